import type { Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { utf8Length } from '../../../util/fit-text.ts'
import type { Workspace } from '../../workspace/index.ts'
import { PathFilter } from './glob.ts'
import { entryFilter, folderApproval, listing } from './read-approval.ts'
import { countOf, forbiddenNote, shownPath, slowPatternNote, throwIfAborted, withFileErrors } from './tool-output.ts'
import { Walk, type WalkEntry } from './walk.ts'

const defaultDepth = 2
const mostDepth = 64
const mostRows = 2_000
const frameBytes = 700

export function listFilesTool(workspace: Workspace): Tool {
  return {
    name: 'list_files',
    description:
      'List files and folders of the workspace; folders end with a slash. Omits .git, node_modules and ignored files by default.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Folder to list. Default: the workspace root.' },
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 1_000,
          description: 'Show only matching files, e.g. *.ts, src/**/*.test.ts or *.{js,ts}.',
        },
        depth: {
          type: 'integer',
          minimum: 1,
          maximum: mostDepth,
          description: `Folder levels to show. Default ${defaultDepth}; all with a pattern.`,
        },
        include_ignored: { type: 'boolean', description: 'Include ignored files. Default false.' },
      },
      additionalProperties: false,
    },
    effect: 'read',
    concurrency: 'shared',
    asksByRuleOnly: true,
    approval: ({ path }) => folderApproval(workspace, String(path ?? '.'), listing),
    execute: (input, context) => withFileErrors(() => listFiles(workspace, input, context)),
  }
}

interface ListInput {
  readonly path?: string
  readonly pattern?: string
  readonly depth?: number
  readonly include_ignored?: boolean
}

async function listFiles(workspace: Workspace, input: ListInput, { signal, maxOutputBytes, mayUse }: ToolContext): Promise<ToolOutput> {
  throwIfAborted(signal)
  const { path = '.', pattern, include_ignored: includesIgnored = false } = input
  const { depth = pattern === undefined ? defaultDepth : mostDepth } = input
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
  const what = pattern === undefined ? countOf(total, 'entry', 'entries') : countOf(total, 'file')
  const where = relative === '.' ? 'the workspace' : relative
  const head = `${what} in ${where}${pattern === undefined ? `, ${countOf(depth, 'level')} deep` : ` for ${pattern.slice(0, 200)}`}.`
  return {
    ok: true,
    content: [head, ...rows, ...notes(total - rows.length, walk.leftOut, filter?.isTooSlow)].join('\n'),
  }
}

function rowOf({ place, kind, target }: WalkEntry): string {
  const relative = shownPath(place.relative)
  if (kind === 'folder') return `${relative}/`
  if (kind === 'link') return `${relative} -> ${shownPath(target ?? '?')}`
  return kind === 'file' ? relative : `${relative} (not a regular file)`
}

function notes(more: number, leftOut: Walk['leftOut'], isTooSlow = false): readonly string[] {
  const { ignored, forbidden, unreadable, isCut } = leftOut
  return [
    ...(more > 0 ? [`${more} more are not shown. Set path or pattern, or reduce depth.`] : []),
    ...(isCut ? ['There are too many entries to list. Set path.'] : []),
    ...(isTooSlow || leftOut.isTooSlow ? [slowPatternNote] : []),
    ...(unreadable > 0 ? [`${countOf(unreadable, 'folder')} could not be read.`] : []),
    ...forbiddenNote(forbidden),
    ...(ignored > 0 ? [`${countOf(ignored, 'ignored entry', 'ignored entries')} omitted; include_ignored shows them.`] : []),
  ]
}
