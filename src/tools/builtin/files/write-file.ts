import type { ApprovalWish, JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { utf8Length } from '../../../util/fit-text.ts'
import { commitWrites, type Snapshot, snapshotOf, type Workspace } from '../../workspace/index.ts'
import { changeApproval, changeView, diffOf, type FileChange, laneKey, previewOf, reportChanges, sizeNote } from './change-report.ts'
import { decodeFile } from './file-kind.ts'
import { countOf, throwIfAborted, withFileErrors } from './tool-output.ts'

/** Larger content is not compared. */
const largestCompared = 4 * 1024 * 1024

export function writeFileTool(workspace: Workspace): Tool {
  return {
    name: 'write_file',
    description:
      'Write a whole file in the workspace: create it, or replace its content. Creates missing folders. To change part of a file, use edit_file.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Path of the file, relative to the workspace root.' },
        content: { type: 'string', description: 'The complete new content.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    effect: 'write',
    concurrency: { key: ({ path }) => laneKey(workspace, path) },
    approval: ({ path, content }) => writeApproval(workspace, String(path), String(content)),
    view: async ({ path }) => changeView([{ path: String(path), kind: await kindOf(workspace, String(path)) }]),
    execute: (input, context) => withFileErrors(() => writeFile(workspace, input, context)),
  }
}

async function writeApproval(workspace: Workspace, path: string, content: string): Promise<ApprovalWish | undefined> {
  const wish = changeApproval(workspace, 'Write', [path])
  const preview = wish && (await previewOf({ workspace, mostBytes: largestCompared }, path, (before) => compared(before, content)))
  if (!preview) return wish
  if (preview.kind === 'add') return { ...wish, summary: `${wish.summary}, ${newFile}` }
  return { ...wish, summary: `Overwrite ${preview.path}`, ...(await diffOf(workspace, preview)) }
}

const newFile = 'a new file'

async function writeFile(workspace: Workspace, input: JsonObject, { signal, maxOutputBytes }: ToolContext): Promise<ToolOutput> {
  throwIfAborted(signal)
  const place = workspace.place(String(input.path))
  const content = String(input.content)
  const before = await snapshotOf(workspace, place, largestCompared)
  if (before.kind === 'file' && before.bytes?.equals(Buffer.from(content))) {
    return {
      ok: true,
      content: `${place.relative} already has this content (${countOf(before.size, 'byte')}); nothing was written.`,
      value: { changes: [] },
    }
  }
  await commitWrites(workspace, [{ place, before, content }], signal)
  return reportChanges([{ path: place.relative, ...compared(before, content) }], maxOutputBytes)
}

function compared(before: Snapshot, after: string): Omit<FileChange, 'path'> {
  if (before.kind === 'absent') return { kind: 'add', before: undefined, after }
  const decoded = before.bytes && decodeFile(before.bytes)
  if (decoded?.kind === 'text' && utf8Length(after) <= largestCompared) return { kind: 'update', before: decoded.text, after }
  const what = decoded?.kind === 'binary' ? `it was a ${decoded.what}` : 'too large to compare'
  return { kind: 'update', before: undefined, after: undefined, note: sizeNote(what, utf8Length(after)) }
}

/** For the display; a path that is refused later is shown as new. */
async function kindOf(workspace: Workspace, path: string): Promise<'add' | 'update'> {
  const located = workspace.locate(path)
  if (located.kind === 'refused') return 'add'
  const found = await snapshotOf(workspace, located.place, 0).catch(() => undefined)
  return found?.kind === 'file' ? 'update' : 'add'
}
