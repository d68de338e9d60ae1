import type { ApprovalKey, ApprovalWish, JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { joinNames } from '../../../util/join-names.ts'
import { commitWrites, FileError, type Workspace } from '../../workspace/index.ts'
import { changeApproval, changeView, type PlannedChange, reportChanges } from './change-report.ts'
import { parsePatch } from './patch/parse-patch.ts'
import type { FilePatch } from './patch/patch-types.ts'
import { PatchStage } from './stage-patch.ts'
import { failed, hiddenContentNote, throwIfAborted, withFileErrors } from './tool-output.ts'

const mostFailures = 5
const mostFiles = 500

export function applyPatchTool(workspace: Workspace): Tool {
  return {
    name: 'apply_patch',
    description: [
      'Apply a patch to workspace files: all of it or nothing. Takes a unified diff, or this format:',
      '*** Begin Patch',
      '*** Update File: src/a.ts',
      '*** Move to: src/b.ts (only to rename the file)',
      '@@ function name() (optional: a line above the change, to locate it)',
      ' context line',
      '-removed line',
      '+added line',
      '*** Add File: src/c.ts',
      '+each line of the new file',
      '*** Delete File: src/d.ts',
      '*** End Patch',
      'Include about three context lines before and after each change.',
    ].join('\n'),
    inputSchema: {
      type: 'object',
      properties: { patch: { type: 'string', minLength: 1, description: 'The whole patch. Paths are relative to the workspace root.' } },
      required: ['patch'],
      additionalProperties: false,
    },
    effect: 'write',
    concurrency: 'exclusive',
    approval: ({ patch }) => patchApproval(workspace, String(patch)),
    view: ({ patch }) => changeView(planned(String(patch)) ?? []),
    execute: (input, context) => withFileErrors(() => applyPatch(workspace, input, context)),
  }
}

/** A patch that only updates files is summarised by their names, any other by what it does. The patch itself is the diff. */
function patchApproval(workspace: Workspace, patch: string): ApprovalWish | undefined {
  const changes = planned(patch)
  const paths = changes?.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]))
  const change = paths && changeApproval(workspace, 'Patch', paths)
  const wish = change && { ...change, keys: change.keys.map(asRead(workspace, changes ?? [])) }
  if (!wish || changes?.every(({ kind }) => kind === 'update')) return wish
  const named = (path: string): string => {
    const located = workspace.locate(path)
    return located.kind === 'refused' ? path : located.place.relative
  }
  const parts = changes?.map(({ kind, path, to }) => `${verbs[kind]} ${named(path)}${to === undefined ? '' : ` to ${named(to)}`}`) ?? []
  return { ...wish, summary: asTitle(joinNames([...new Set(parts)])) }
}

/** A moved file can be read at its new path, so the rules for reading it apply. */
function asRead(workspace: Workspace, changes: readonly PlannedChange[]): (key: ApprovalKey) => ApprovalKey {
  const moved = new Set(changes.flatMap(({ kind, path }) => (kind === 'move' ? [workspace.place(path).absolute] : [])))
  return (key) => (moved.has(key.key.slice('path:'.length)) ? { ...key, tools: ['read_file'] } : key)
}

const verbs: { readonly [Kind in PlannedChange['kind']]: string } = { add: 'add', update: 'change', delete: 'delete', move: 'move' }
const asTitle = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** From the patch text alone; undefined where it cannot be parsed, which execution reports. */
function planned(patch: string): readonly PlannedChange[] | undefined {
  try {
    return patchFiles(patch).map((file): PlannedChange => {
      if (file.kind !== 'update') return { path: file.path, kind: file.kind }
      return file.to === undefined ? { path: file.path, kind: 'update' } : { path: file.path, kind: 'move', to: file.to }
    })
  } catch {
    return undefined
  }
}

function patchFiles(patch: string): readonly FilePatch[] {
  const files = parsePatch(patch)
  if (files.length <= mostFiles) return files
  throw new FileError('invalid_input', `The patch has ${files.length} files.`, `At most ${mostFiles} are allowed. Use several patches.`)
}

async function applyPatch(workspace: Workspace, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { signal, maxOutputBytes } = context
  throwIfAborted(signal)
  const stage = new PatchStage(workspace, context)
  for (const file of patchFiles(String(input.patch))) {
    throwIfAborted(signal)
    await stage.stage(file)
  }
  if (stage.failures.length > 0) return refused(stage.failures)
  const writes = stage.writes()
  if (writes.length === 0) return { ok: true, content: 'The files already match the patch; nothing was changed.', value: { changes: [] } }
  await commitWrites(workspace, writes, signal)
  return reportChanges(stage.changes(), maxOutputBytes)
}

function refused(failures: readonly string[]): ToolOutput {
  const shown = failures.slice(0, mostFailures)
  const more = failures.length > mostFailures ? [`${failures.length - mostFailures} more parts do not apply.`] : []
  return failed(
    `${['The patch does not apply; nothing was changed.', ...shown, ...more].join('\n')}\n`,
    failures.every((failure) => failure.endsWith(hiddenContentNote))
      ? 'Send a patch that matches the lines exactly, or write the whole file with write_file.'
      : 'Read these places again, then send a patch that matches the lines exactly.',
  )
}
