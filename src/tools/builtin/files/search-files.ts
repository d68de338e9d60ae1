import type { JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { utf8Length } from '../../../util/fit-text.ts'
import { showValue } from '../../../util/show-value.ts'
import { FileError, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import { PathFilter } from './glob.ts'
import { entryFilter, folderApproval, searching } from './read-approval.ts'
import { compilePattern, escapePattern, type SearchPattern } from './search/compile-pattern.ts'
import { type FileMatches, type SearchTotals, searchAllFiles } from './search/search-all-files.ts'
import { asInteger, asText, countOf, forbiddenNote, shownPath, slowPatternNote } from './text-helpers.ts'
import { failed, throwIfAborted, withFileErrors } from './tool-output.ts'
import { Walk } from './walk.ts'

const defaultLimit = 100
const mostLimit = 1_000
const mostContext = 20
const mostDepth = 64
const frameBytes = 900
/** For a batch of 2 MB or 64 files; ordinary patterns take some milliseconds. */
const defaultTimeoutMs = 3_000

export function searchFilesTool(workspace: Workspace, { timeoutMs = defaultTimeoutMs }: { readonly timeoutMs?: number } = {}): Tool {
  return {
    name: 'search_files',
    description:
      'Search text files of the workspace with a regular expression, line by line. Shows matching lines with their numbers. Omits .git, node_modules and ignored files by default.',
    inputSchema: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 2_000,
          description: 'JavaScript regular expression, matched against single lines.',
        },
        path: { type: 'string', minLength: 1, description: 'Folder or file to search. Default: the whole workspace.' },
        glob: { type: 'string', minLength: 1, maxLength: 1_000, description: 'Search only matching files, e.g. *.ts or src/**/*.{js,ts}.' },
        ignore_case: { type: 'boolean', description: 'Ignore case. Default false.' },
        context: { type: 'integer', minimum: 0, maximum: mostContext, description: 'Context lines around each match. Default 0.' },
        limit: { type: 'integer', minimum: 1, maximum: mostLimit, description: `Maximum number of matches. Default ${defaultLimit}.` },
        include_ignored: { type: 'boolean', description: 'Search ignored files, too. Default false.' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    effect: 'read',
    concurrency: 'shared',
    approval: ({ path }) => folderApproval(workspace, asText(path) ?? '.', searching),
    execute: (input, context) => withFileErrors(() => searchFiles(workspace, input, { context, timeoutMs })),
  }
}

interface Call {
  readonly context: ToolContext
  readonly timeoutMs: number
}

async function searchFiles(workspace: Workspace, input: JsonObject, { context, timeoutMs }: Call): Promise<ToolOutput> {
  throwIfAborted(context.signal)
  const wanted = String(input.pattern)
  const compiled = compilePattern(wanted, input.ignore_case === true)
  if (!compiled.ok)
    return failed(`${compiled.message}.`, `To search for this text literally, use ${JSON.stringify(escapePattern(wanted))}.`)
  const source = await sourceOf(workspace, input, context)
  const rows = new Rows(Math.max(300, context.maxOutputBytes - frameBytes), asInteger(input.context, [0, mostContext]) !== undefined)
  try {
    const totals = await collect(workspace, { source, rows, input, pattern: compiled.pattern, context, timeoutMs })
    return { ok: true, content: [heading(wanted, rows, totals), ...rows.list, ...notes(totals, rows, source)].join('\n') }
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    const partial = rows.list.length === 0 ? undefined : rows.list.join('\n')
    return { ok: false, error: error.failure, ...(partial !== undefined && { partial }) }
  }
}

interface Collecting {
  readonly source: Source
  readonly rows: Rows
  readonly input: JsonObject
  readonly pattern: SearchPattern
  readonly context: ToolContext
  readonly timeoutMs: number
}

async function collect(workspace: Workspace, { source, rows, input, pattern, context, timeoutMs }: Collecting): Promise<SearchTotals> {
  const search = searchAllFiles(workspace, source.places(), {
    pattern,
    timeoutMs,
    context: asInteger(input.context, [0, mostContext]) ?? 0,
    mostHits: asInteger(input.limit, [1, mostLimit]) ?? defaultLimit,
    signal: context.signal,
  })
  for (;;) {
    const next = await search.next()
    if (next.done) return next.value
    if (rows.add(next.value)) continue
    await search.return({ files: 0, binary: 0, unreadable: 0, end: 'hits' })
    return { files: 0, binary: 0, unreadable: 0, end: 'hits' }
  }
}

/** The files to search: the matching ones of a folder, or one. */
interface Source {
  readonly walk?: Walk
  readonly filter?: PathFilter | undefined
  places(): AsyncGenerator<WorkspacePath>
}

async function sourceOf(workspace: Workspace, input: JsonObject, { signal, mayUse }: ToolContext): Promise<Source> {
  const path = asText(input.path) ?? '.'
  const glob = asText(input.glob)
  const file = await fileAt(workspace, path)
  if (file)
    return {
      places: async function* () {
        yield file
      },
    }
  const mayShow = await entryFilter(workspace, path, { look: searching, mayUse })
  const walk = new Walk(workspace, { includesIgnored: input.include_ignored === true, depth: mostDepth, signal, mayShow })
  const filter = glob === undefined ? undefined : new PathFilter(glob, workspace.place(path).relative)
  return {
    walk,
    filter,
    places: async function* () {
      for await (const { place, kind } of walk.below(path)) if (kind === 'file' && filter?.fits(place.relative) !== false) yield place
    },
  }
}

/** Undefined for a folder. */
async function fileAt(workspace: Workspace, path: string): Promise<WorkspacePath | undefined> {
  if ((await workspace.kindOf(path)) === 'folder') return undefined
  const { handle, place } = await workspace.openFile(path)
  await handle.close()
  return place
}

/** Matches by file, within the output limit. */
class Rows {
  readonly list: string[] = []
  readonly #hasContext: boolean
  #left: number
  #path: string | undefined
  #line = 0
  #hits = 0
  #files = 0

  constructor(room: number, hasContext: boolean) {
    this.#left = room
    this.#hasContext = hasContext
  }

  get hits(): number {
    return this.#hits
  }

  get files(): number {
    return this.#files
  }

  add({ place, lines }: FileMatches): boolean {
    for (const { line, text, isHit } of lines) {
      const isNewFile = place.relative !== this.#path
      const row = [...this.#before(place, line), `${line}${isHit ? ':' : '-'} ${text}`].join('\n')
      this.#left -= utf8Length(row) + 1
      if (this.#left < 0 && this.list.length > 0) return false
      this.list.push(row)
      this.#path = place.relative
      this.#line = line
      if (isNewFile) this.#files++
      if (isHit) this.#hits++
    }
    return true
  }

  /** The file name before its first line; with context, a separator between groups. */
  #before(place: WorkspacePath, line: number): readonly string[] {
    if (this.#path === place.relative) return this.#hasContext && line > this.#line + 1 ? ['--'] : []
    return this.#path === undefined ? [shownPath(place.relative)] : ['', shownPath(place.relative)]
  }
}

function heading(wanted: string, { hits, files }: Rows, totals: SearchTotals): string {
  const pattern = showValue(wanted, 200)
  if (hits === 0) return `No hits for ${pattern} in ${countOf(totals.files, 'file')}.`
  return `${totals.end === 'all' ? countOf(hits, 'hit') : `The first ${countOf(hits, 'hit')}`} for ${pattern} in ${countOf(files, 'file')}.`
}

function notes({ end, binary, unreadable }: SearchTotals, { hits }: Rows, { walk, filter }: Source): readonly string[] {
  const leftOut = walk?.leftOut
  return [
    ...(end === 'hits' ? ['There may be more. Narrow the pattern, set path or glob, or raise limit.'] : []),
    ...(end === 'bytes' || leftOut?.isCut ? ['Not all files were searched: there are too many. Set path or glob.'] : []),
    ...(leftOut?.isTooSlow || filter?.isTooSlow ? [slowPatternNote] : []),
    ...(binary > 0 && hits === 0 ? [`${countOf(binary, 'binary file')} omitted.`] : []),
    ...(unreadable > 0 ? [`${countOf(unreadable, 'file')} could not be read.`] : []),
    ...forbiddenNote(leftOut?.forbidden ?? 0),
    ...(hits === 0 && leftOut && leftOut.ignored > 0
      ? [`${countOf(leftOut.ignored, 'ignored entry', 'ignored entries')} omitted; include_ignored searches them.`]
      : []),
  ]
}
