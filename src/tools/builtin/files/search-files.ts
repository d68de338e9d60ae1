import type { JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { utf8Length } from '../../../util/fit-text.ts'
import { showValue } from '../../../util/show-value.ts'
import { FileFault, type Place, type Workspace } from '../../workspace/index.ts'
import { PathFilter } from './glob.ts'
import { entryFilter, folderWish, searching } from './read-wish.ts'
import { failed, heed, returned } from './returned.ts'
import { compilePattern, type FoundIn, literally, type SearchFigures, type SearchPattern, searchPlaces } from './search/index.ts'
import { Walk } from './walk.ts'
import { counted, forbiddenNote, shownPath, slowPatternNote, textOf, whole } from './wording.ts'

const defaultLimit = 100
const mostLimit = 1_000
const mostContext = 20
const mostDepth = 64
const frameBytes = 900
/** For two megabytes or 64 files; an honest pattern takes some milliseconds. */
const defaultPatienceMs = 3_000

export function searchFilesTool(workspace: Workspace, { patienceMs = defaultPatienceMs }: { readonly patienceMs?: number } = {}): Tool {
  return {
    name: 'search_files',
    description:
      'Searches the text files of the workspace for a regular expression, line by line; shows the lines that fit, with their numbers. Leaves out .git, node_modules and what .gitignore names, unless asked.',
    inputSchema: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 2_000,
          description: 'A regular expression (JavaScript), matched within one line.',
        },
        path: { type: 'string', minLength: 1, description: 'The folder or file to search. Default: the whole workspace.' },
        glob: { type: 'string', minLength: 1, maxLength: 1_000, description: 'Only files that fit, e.g. *.ts or src/**/*.{js,ts}.' },
        ignore_case: { type: 'boolean', description: 'Letter case does not matter. Default false.' },
        context: { type: 'integer', minimum: 0, maximum: mostContext, description: 'Lines to show around each hit. Default 0.' },
        limit: { type: 'integer', minimum: 1, maximum: mostLimit, description: `How many hits to show at most. Default ${defaultLimit}.` },
        include_ignored: { type: 'boolean', description: 'Also in files that are left out otherwise. Default false.' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    effect: 'read',
    concurrency: 'shared',
    approval: ({ path }) => folderWish(workspace, textOf(path) ?? '.', searching),
    execute: (input, context) => returned(() => searchFiles(workspace, input, { context, patienceMs })),
  }
}

interface Call {
  readonly context: ToolContext
  readonly patienceMs: number
}

async function searchFiles(workspace: Workspace, input: JsonObject, { context, patienceMs }: Call): Promise<ToolOutput> {
  heed(context.signal)
  const wanted = String(input.pattern)
  const compiled = compilePattern(wanted, input.ignore_case === true)
  if (!compiled.ok) return failed(`${compiled.message}.`, `To find just this text, use ${JSON.stringify(literally(wanted))}.`)
  const source = await sourceOf(workspace, input, context)
  const rows = new Rows(Math.max(300, context.maxOutputBytes - frameBytes), whole(input.context, [0, mostContext]) !== undefined)
  try {
    const figures = await collect(workspace, { source, rows, input, pattern: compiled.pattern, context, patienceMs })
    return { ok: true, content: [heading(wanted, rows, figures), ...rows.list, ...notes(figures, rows, source)].join('\n') }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
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
  readonly patienceMs: number
}

async function collect(workspace: Workspace, { source, rows, input, pattern, context, patienceMs }: Collecting): Promise<SearchFigures> {
  const search = searchPlaces(workspace, source.places(), {
    pattern,
    patienceMs,
    context: whole(input.context, [0, mostContext]) ?? 0,
    mostHits: whole(input.limit, [1, mostLimit]) ?? defaultLimit,
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

/** The files that are searched: those of a folder that fit, or just one. */
interface Source {
  readonly walk?: Walk
  readonly filter?: PathFilter | undefined
  places(): AsyncGenerator<Place>
}

async function sourceOf(workspace: Workspace, input: JsonObject, { signal, mayUse }: ToolContext): Promise<Source> {
  const path = textOf(input.path) ?? '.'
  const glob = textOf(input.glob)
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

/** Nothing where it is a folder. */
async function fileAt(workspace: Workspace, path: string): Promise<Place | undefined> {
  if ((await workspace.kindOf(path)) === 'folder') return undefined
  const { handle, place } = await workspace.openFile(path)
  await handle.close()
  return place
}

/** Hits by file, as far as there is room. */
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

  add({ place, lines }: FoundIn): boolean {
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

  /** The name of a file before its first line; with context, a mark where lines are left out. */
  #before(place: Place, line: number): readonly string[] {
    if (this.#path === place.relative) return this.#hasContext && line > this.#line + 1 ? ['--'] : []
    return this.#path === undefined ? [shownPath(place.relative)] : ['', shownPath(place.relative)]
  }
}

function heading(wanted: string, { hits, files }: Rows, figures: SearchFigures): string {
  const pattern = showValue(wanted, 200)
  if (hits === 0) return `No hits for ${pattern} in ${counted(figures.files, 'file')}.`
  return `${figures.end === 'all' ? counted(hits, 'hit') : `The first ${counted(hits, 'hit')}`} for ${pattern} in ${counted(files, 'file')}.`
}

function notes({ end, binary, unreadable }: SearchFigures, { hits }: Rows, { walk, filter }: Source): readonly string[] {
  const leftOut = walk?.leftOut
  return [
    ...(end === 'hits' ? ['There may be more: narrow the pattern, name a path or glob, or raise limit.'] : []),
    ...(end === 'bytes' || leftOut?.isCut ? ['Not everything was searched, there is too much: name a path or glob.'] : []),
    ...(leftOut?.isTooSlow || filter?.isTooSlow ? [slowPatternNote] : []),
    ...(binary > 0 && hits === 0 ? [`${counted(binary, 'binary file')} left out.`] : []),
    ...(unreadable > 0 ? [`${counted(unreadable, 'file')} could not be read.`] : []),
    ...forbiddenNote(leftOut?.forbidden ?? 0),
    ...(hits === 0 && leftOut && leftOut.ignored > 0
      ? [`${counted(leftOut.ignored, 'ignored entry', 'ignored entries')} left out; include_ignored searches them.`]
      : []),
  ]
}
