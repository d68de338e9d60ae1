import type { ApprovalKey, ApprovalWish, JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { commitWrites, type Workspace } from '../../workspace/index.ts'
import { changeView, changeWish, type PlannedChange, reportChanges } from './changes.ts'
import { type FilePatch, parsePatch } from './patch/index.ts'
import { failed, heed, returned } from './returned.ts'
import { PatchStage } from './stage-patch.ts'
import { listed, untoldNote } from './wording.ts'

const mostFailures = 5
const mostFiles = 500

export function applyPatchTool(workspace: Workspace): Tool {
  return {
    name: 'apply_patch',
    description: [
      'Changes several places or files of the workspace at once: all of it or nothing. Takes a unified diff, or this form:',
      '*** Begin Patch',
      '*** Update File: src/a.ts',
      '*** Move to: src/b.ts (only to rename it)',
      '@@ function name() (a line before the place, only where it helps to find it)',
      ' a line that stays',
      '-a line that goes',
      '+a line that comes',
      '*** Add File: src/c.ts',
      '+every line of the new file',
      '*** Delete File: src/d.ts',
      '*** End Patch',
      'Give about three lines that stay before and after each change.',
    ].join('\n'),
    inputSchema: {
      type: 'object',
      properties: { patch: { type: 'string', minLength: 1, description: 'The whole patch. Paths start at the root of the workspace.' } },
      required: ['patch'],
      additionalProperties: false,
    },
    effect: 'write',
    concurrency: 'exclusive',
    approval: ({ patch }) => patchWish(workspace, String(patch)),
    view: ({ patch }) => changeView(planned(String(patch)) ?? []),
    execute: (input, context) => returned(() => applyPatch(workspace, input, context)),
  }
}

/** Parts that only change files need no more than their names: the rest is told by what it does. The patch itself is the diff. */
function patchWish(workspace: Workspace, patch: string): ApprovalWish | undefined {
  const changes = planned(patch)
  const paths = changes?.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]))
  const change = paths && changeWish(workspace, 'Patch', paths)
  const wish = change && { ...change, keys: change.keys.map(asRead(workspace, changes ?? [])) }
  if (!wish || changes?.every(({ kind }) => kind === 'update')) return wish
  const named = (path: string): string => {
    const located = workspace.locate(path)
    return located.kind === 'refused' ? path : located.place.relative
  }
  const parts = changes?.map(({ kind, path, to }) => `${verbs[kind]} ${named(path)}${to === undefined ? '' : ` to ${named(to)}`}`) ?? []
  return { ...wish, summary: asTitle(listed([...new Set(parts)])) }
}

/** What is moved can be read where it is then: what rules ask or deny of reading it holds. */
function asRead(workspace: Workspace, changes: readonly PlannedChange[]): (key: ApprovalKey) => ApprovalKey {
  const moved = new Set(changes.flatMap(({ kind, path }) => (kind === 'move' ? [workspace.place(path).absolute] : [])))
  return (key) => (moved.has(key.key.slice('path:'.length)) ? { ...key, tools: ['read_file'] } : key)
}

const verbs: { readonly [Kind in PlannedChange['kind']]: string } = { add: 'add', update: 'change', delete: 'delete', move: 'move' }
const asTitle = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** By the letters of the patch; nothing where it is none, which execution says, too. */
function planned(patch: string): readonly PlannedChange[] | undefined {
  const parsed = parsePatch(patch)
  if (!parsed.ok || parsed.files.length > mostFiles) return undefined
  return parsed.files.map((file): PlannedChange => {
    if (file.kind !== 'update') return { path: file.path, kind: file.kind }
    return file.to === undefined ? { path: file.path, kind: 'update' } : { path: file.path, kind: 'move', to: file.to }
  })
}

async function applyPatch(workspace: Workspace, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { signal, maxOutputBytes } = context
  heed(signal)
  const parsed = parsePatch(String(input.patch))
  if (!parsed.ok)
    return failed(parsed.line === undefined ? parsed.message : `Line ${parsed.line} of the patch: ${parsed.message}`, parsed.remedy)
  if (parsed.files.length > mostFiles)
    return failed(`The patch has ${parsed.files.length} files.`, `At most ${mostFiles} are possible: use several patches.`)
  const stage = await staged(workspace, parsed.files, context)
  if (stage.failures.length > 0) return refused(stage.failures)
  const writes = stage.writes()
  if (writes.length === 0)
    return { ok: true, content: 'Everything is already as the patch wants it; nothing was changed.', value: { changes: [] } }
  await commitWrites(workspace, writes, signal)
  return reportChanges(stage.changes(), maxOutputBytes)
}

async function staged(workspace: Workspace, files: readonly FilePatch[], context: ToolContext): Promise<PatchStage> {
  const stage = new PatchStage(workspace, context)
  for (const file of files) {
    heed(context.signal)
    await stage.stage(file)
  }
  return stage
}

function refused(failures: readonly string[]): ToolOutput {
  const shown = failures.slice(0, mostFailures)
  const more = failures.length > mostFailures ? [`${failures.length - mostFailures} more parts do not fit.`] : []
  return failed(
    `${['The patch does not fit; nothing was changed.', ...shown, ...more].join('\n')}\n`,
    failures.every((failure) => failure.endsWith(untoldNote))
      ? 'Send a patch with the lines letter by letter as they stand there, or write the whole file with write_file.'
      : 'Read the places above again, then send a patch with the lines as they stand there.',
  )
}
