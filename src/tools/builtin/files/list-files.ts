import type { JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { utf8Length } from '../../../util/fit-text.ts'
import type { Workspace } from '../../workspace/index.ts'
import { PathFilter } from './glob.ts'
import { entryFilter, folderWish, listing } from './read-wish.ts'
import { heed, returned } from './returned.ts'
import { Walk, type WalkEntry } from './walk.ts'
import { counted, forbiddenNote, shownPath, slowPatternNote, textOf, whole } from './wording.ts'

const defaultDepth = 2
const mostDepth = 64
const mostRows = 2_000
const frameBytes = 700

export function listFilesTool(workspace: Workspace): Tool {
  return {
    name: 'list_files',
    description:
      'Lists files and folders of the workspace by name; folders end with a slash. Leaves out .git, node_modules and what .gitignore names, unless asked.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'The folder. Default: the root of the workspace.' },
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 1_000,
          description: 'Only files that fit, e.g. *.ts, src/**/*.test.ts or *.{js,ts}.',
        },
        depth: {
          type: 'integer',
          minimum: 1,
          maximum: mostDepth,
          description: `How many levels of folders to show. Default ${defaultDepth}, with a pattern all.`,
        },
        include_ignored: { type: 'boolean', description: 'Also what is left out otherwise. Default false.' },
      },
      additionalProperties: false,
    },
    effect: 'read',
    concurrency: 'shared',
    approval: ({ path }) => folderWish(workspace, textOf(path) ?? '.', listing),
    execute: (input, context) => returned(() => listFiles(workspace, input, context)),
  }
}

async function listFiles(workspace: Workspace, input: JsonObject, { signal, maxOutputBytes, mayUse }: ToolContext): Promise<ToolOutput> {
  heed(signal)
  const path = textOf(input.path) ?? '.'
  const pattern = textOf(input.pattern)
  const depth = whole(input.depth, [1, mostDepth]) ?? (pattern === undefined ? defaultDepth : mostDepth)
  const includesIgnored = input.include_ignored === true
  const mayShow = await entryFilter(workspace, path, { look: listing, mayUse })
  const walk = new Walk(workspace, { includesIgnored, depth, signal, mayShow })
  const { relative } = workspace.place(path)
  const filter = pattern === undefined ? undefined : new PathFilter(pattern, relative)
  const rows: string[] = []
  let room = Math.max(200, maxOutputBytes - frameBytes - 2 * relative.length)
  let total = 0
  for await (const entry of walk.below(path)) {
    if (filter && (entry.kind === 'folder' || !filter.fits(entry.place.relative))) continue
    total++
    if (room < 0 || rows.length >= mostRows) continue
    const row = rowOf(entry)
    room -= utf8Length(row) + 1
    if (room >= 0) rows.push(row)
  }
  const what = pattern === undefined ? counted(total, 'entry', 'entries') : counted(total, 'file')
  const where = relative === '.' ? 'the workspace' : relative
  const head = `${what} in ${where}${pattern === undefined ? `, ${counted(depth, 'level')} deep` : ` for ${pattern.slice(0, 200)}`}.`
  return {
    ok: true,
    content: [head, ...rows, ...notes({ shown: rows.length, total, leftOut: walk.leftOut, isTooSlow: filter?.isTooSlow })].join('\n'),
  }
}

function rowOf({ place, kind, target }: WalkEntry): string {
  const relative = shownPath(place.relative)
  switch (kind) {
    case 'folder':
      return `${relative}/`
    case 'link':
      return `${relative} -> ${shownPath(target ?? '?')}`
    case 'other':
      return `${relative} (no regular file)`
    case 'file':
      return relative
    default:
      return kind satisfies never
  }
}

interface Figures {
  readonly shown: number
  readonly total: number
  readonly leftOut: Walk['leftOut']
  readonly isTooSlow: boolean | undefined
}

function notes({ shown, total, leftOut, isTooSlow }: Figures): readonly string[] {
  const { ignored, forbidden, unreadable, isCut } = leftOut
  return [
    ...(shown < total ? [`${total - shown} more are not shown: name a folder with path, use a pattern, or less depth.`] : []),
    ...(isCut ? ['There is more than can be listed at once: name a folder with path.'] : []),
    ...(isTooSlow || leftOut.isTooSlow ? [slowPatternNote] : []),
    ...(unreadable > 0 ? [`${counted(unreadable, 'folder')} could not be read.`] : []),
    ...forbiddenNote(forbidden),
    ...(ignored > 0 ? [`${counted(ignored, 'ignored entry', 'ignored entries')} left out; include_ignored shows them.`] : []),
  ]
}
