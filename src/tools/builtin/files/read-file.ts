import type { JsonObject, Tool, ToolContext, ToolOutput, ToolPart } from '../../../contracts/index.ts'
import { groupDigits } from '../../../util/group-digits.ts'
import type { OpenFile, Workspace } from '../../workspace/index.ts'
import { laneKey } from './change-report.ts'
import { binaryKind, headBytes } from './file-kind.ts'
import { readApproval } from './read-approval.ts'
import { type Page, readPage } from './read-page.ts'
import { countOf, failed, throwIfAborted, withFileErrors } from './tool-output.ts'

const defaultLimit = 2_000
const frameBytes = 900

export function readFileTool(workspace: Workspace): Tool {
  return {
    name: 'read_file',
    description: 'Read a text file of the workspace. Each line is shown as number, tab, text. Long files are read in pages.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Path of the file, relative to the workspace root.' },
        offset: { type: 'integer', minimum: 1, description: 'First line to show. Default 1.' },
        limit: { type: 'integer', minimum: 1, description: `Maximum number of lines. Default ${defaultLimit}.` },
      },
      required: ['path'],
      additionalProperties: false,
    },
    effect: 'read',
    concurrency: { key: ({ path }) => laneKey(workspace, path) },
    asksByRuleOnly: true,
    approval: ({ path }) => readApproval(workspace, String(path)),
    execute: (input, context) => withFileErrors(() => readFile(workspace, input, context)),
  }
}

async function readFile(workspace: Workspace, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  throwIfAborted(context.signal)
  const file = await workspace.openFile(String(input.path))
  try {
    const head = Buffer.alloc(headBytes)
    const { bytesRead } = await file.handle.read(head, 0, headBytes, 0)
    const kind = binaryKind(head.subarray(0, bytesRead))
    if (kind !== undefined) return { ...notShown(file, kind), ...(await picture(file, kind)) }
    return await shown(file, input, context)
  } finally {
    await file.handle.close()
  }
}

const pictures: { readonly [kind: string]: string } = {
  'PNG image': 'image/png',
  'JPEG image': 'image/jpeg',
  'GIF image': 'image/gif',
  'WebP image': 'image/webp',
}
const largestPicture = 10 * 1024 * 1024

/** A model that reads images sees it. */
async function picture({ handle, stat }: OpenFile, kind: string): Promise<{ readonly parts?: readonly ToolPart[] }> {
  const mediaType = pictures[kind]
  if (mediaType === undefined || stat.size > largestPicture) return {}
  const bytes = Buffer.alloc(stat.size)
  const { bytesRead } = await handle.read(bytes, 0, stat.size, 0)
  return { parts: [{ type: 'image', mediaType, data: bytes.subarray(0, bytesRead) }] }
}

const notShown = ({ place, stat }: OpenFile, kind: string): ToolOutput => ({
  ok: true,
  content: `${place.relative} is not a text file: ${kind}, ${countOf(stat.size, 'byte')}.`,
})

async function shown(file: OpenFile, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const path = file.place.relative
  const { offset = 1, limit = defaultLimit } = input as { readonly offset?: number; readonly limit?: number }
  const room = Math.max(200, context.maxOutputBytes - frameBytes - 2 * path.length)
  const page = await readPage(file.handle, { offset, limit, room, signal: context.signal })
  if (page.lines === 0) return { ok: true, content: `${path} is empty (0 bytes).` }
  if (page.rows.length === 0) {
    return failed(
      `Line ${offset} is past the end of ${path}: it has ${countOf(page.lines, 'line')}.`,
      `Use a line from 1 to ${page.lines}.`,
    )
  }
  const last = offset + page.rows.length - 1
  const size = `${page.isWhollyCounted ? countOf(page.lines, 'line') : `more than ${groupDigits(page.lines)} lines`} (${countOf(file.stat.size, 'byte')})`
  const next = page.lines > last ? `Next: read_file ${JSON.stringify({ path, offset: last + 1 })}` : 'End of the file.'
  return { ok: true, content: [`${path}: lines ${offset}-${last} of ${size}.`, ...page.rows, ...notes(page), next].join('\n') }
}

function notes({ hasCarriageReturns, hasOtherBytes }: Page): readonly string[] {
  return [
    ...(hasCarriageReturns ? ['Lines end with CRLF; edits keep that.'] : []),
    ...(hasOtherBytes ? ['Not all of it is UTF-8; other bytes are shown as \uFFFD.'] : []),
  ]
}
