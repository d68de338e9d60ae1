import type { Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { utf8Length } from '../../../util/fit-text.ts'
import { messageOf } from '../../../util/message-of.ts'
import { showValue } from '../../../util/show-value.ts'
import { FileError, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import { PathFilter } from './glob.ts'
import { entryFilter, folderApproval, searching } from './read-approval.ts'
import { type FileMatches, type SearchTotals, searchAllFiles } from './search/search-all-files.ts'
import { countOf, forbiddenNote, shownPath, slowPatternNote, throwIfAborted, withFileErrors } from './tool-output.ts'
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
    asksByRuleOnly: true,
    approval: ({ path }) => folderApproval(workspace, String(path ?? '.'), searching),
    execute: (input, context) => withFileErrors(() => searchFiles(workspace, input as unknown as SearchInput, { context, timeoutMs })),
  }
}

interface SearchInput {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly ignore_case?: boolean
  readonly context?: number
  readonly limit?: number
  readonly include_ignored?: boolean
}

async function searchFiles(
  workspace: Workspace,
  input: SearchInput,
  { context: { signal, mayUse, maxOutputBytes }, timeoutMs }: { readonly context: ToolContext; readonly timeoutMs: number },
): Promise<ToolOutput> {
  throwIfAborted(signal)
  const { context, limit: mostHits = defaultLimit } = input
  const pattern = compilePattern(input.pattern, input.ignore_case === true)
  const source = await sourceOf(workspace, input, { signal, mayUse })
  const rows = new Rows(Math.max(300, maxOutputBytes - frameBytes), context !== undefined)
  try {
    const search = searchAllFiles(workspace, source.places(), { pattern, timeoutMs, context: context ?? 0, mostHits, signal })
    const totals = await collect(search, rows)
    return { ok: true, content: [heading(input.pattern, rows, totals), ...rows.list, ...notes(totals, rows, source)].join('\n') }
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    const partial = rows.list.length === 0 ? undefined : rows.list.join('\n')
    return { ok: false, error: error.failure, ...(partial !== undefined && { partial }) }
  }
}

/** Accepts what models write: a leading `(?i)`, and escapes that Unicode mode rejects. */
function compilePattern(text: string, ignoresCase: boolean): RegExp {
  const source = text.replace(/^\(\?i\)/, '')
  const letters = ignoresCase || source !== text ? 'i' : ''
  try {
    return new RegExp(source, `u${letters}`)
  } catch {
    // Without Unicode mode, unnecessary escapes are allowed.
  }
  try {
    return new RegExp(source, letters)
  } catch (error) {
    const literal = JSON.stringify(text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    throw new FileError('invalid_input', `${messageOf(error)}.`, `To search for this text literally, use ${literal}.`)
  }
}

async function collect(search: AsyncGenerator<FileMatches, SearchTotals>, rows: Rows): Promise<SearchTotals> {
  for (;;) {
    const next = await search.next()
    if (next.done) return next.value
    if (rows.add(next.value)) continue
    const totals: SearchTotals = { files: 0, binary: 0, unreadable: 0, end: 'hits' }
    await search.return(totals)
    return totals
  }
}

/** The files to search: the matching ones of a folder, or one. */
interface Source {
  readonly walk?: Walk
  readonly filter?: PathFilter | undefined
  places(): AsyncGenerator<WorkspacePath>
}

async function sourceOf(
  workspace: Workspace,
  { path = '.', glob, include_ignored: includesIgnored = false }: SearchInput,
  { signal, mayUse }: Pick<ToolContext, 'signal' | 'mayUse'>,
): Promise<Source> {
  const file = await fileAt(workspace, path)
  if (file)
    return {
      places: async function* () {
        yield file
      },
    }
  const mayShow = await entryFilter(workspace, path, { look: searching, mayUse })
  const walk = new Walk(workspace, { includesIgnored, depth: mostDepth, signal, mayShow })
  const filter = glob === undefined ? undefined : new PathFilter(glob, workspace.place(path).relative)
  return {
    walk,
    filter,
    places: async function* () {
      for await (const { place, kind } of walk.below(path)) if (kind === 'file' && filter?.fits(place.relative) !== false) yield place
    },
  }
}

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
  hits = 0
  files = 0

  constructor(room: number, hasContext: boolean) {
    this.#left = room
    this.#hasContext = hasContext
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
      if (isNewFile) this.files++
      if (isHit) this.hits++
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
