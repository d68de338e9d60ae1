import type { ApprovalWish, JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { joinNames } from '../../../util/join-names.ts'
import { commitWrites, FileError, type Snapshot, snapshotOf, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import { changeApproval, changeView, diffOf, type FileChange, laneKey, previewOf, reportChanges } from './change-report.ts'
import { encodeText, largestEditable, textOfSnapshot } from './file-kind.ts'
import { nearestLines, numbered } from './nearest-lines.ts'
import { mayShowContent } from './read-approval.ts'
import { type Edit, replaceText } from './replace-text.ts'
import { failed, hiddenContentNote, throwIfAborted, withFileErrors } from './tool-output.ts'

/** Lines that are shown of the most similar place. */
const mostShown = 12
/** A shorter text occurs in most files. */
const leastTelling = 10

export function editFileTool(workspace: Workspace): Tool {
  return {
    name: 'edit_file',
    description:
      'Replace text in a workspace file. The old text must match exactly, including whitespace and without line numbers, and occur once unless replace_all is set.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Path of the file, relative to the workspace root.' },
        old: { type: 'string', minLength: 1, description: 'The text to replace, with enough context to be unique.' },
        new: { type: 'string', description: 'The new text. Empty to delete the old text.' },
        replace_all: { type: 'boolean', description: 'Replace every occurrence. Default false.' },
      },
      required: ['path', 'old', 'new'],
      additionalProperties: false,
    },
    effect: 'write',
    concurrency: { key: ({ path }) => laneKey(workspace, path) },
    approval: (input) => editApproval(workspace, input),
    view: ({ path }) => changeView([{ path: String(path), kind: 'update' }]),
    execute: (input, context) => withFileErrors(() => editFile(workspace, input, context)),
  }
}

async function editApproval(workspace: Workspace, input: JsonObject): Promise<ApprovalWish | undefined> {
  const path = String(input.path)
  const wish = changeApproval(workspace, 'Edit', [path])
  const preview = wish && (await previewOf({ workspace, mostBytes: largestEditable }, path, (...file) => edited(editOf(input), ...file)))
  return wish && preview ? { ...wish, ...(await diffOf(workspace, preview)) } : wish
}

/** An edit that does not apply is reported when it is executed. */
function edited(edit: Edit, before: Snapshot, place: WorkspacePath): Omit<FileChange, 'path'> | undefined {
  if (before.kind === 'absent') return undefined
  const { text } = textOfSnapshot(before, place)
  const result = replaceText(text, edit)
  return result.kind === 'replaced' ? { kind: 'update', before: text, after: result.text } : undefined
}

const editOf = (input: JsonObject): Edit => ({
  old: String(input.old),
  new: String(input.new),
  replaceAll: input.replace_all === true,
})

async function editFile(workspace: Workspace, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { signal, maxOutputBytes, mayUse } = context
  throwIfAborted(signal)
  const place = workspace.place(String(input.path))
  const edit = editOf(input)
  if (edit.old === '') return failed('The old text is empty.', 'Give the text to replace, or write the whole file with write_file.')
  if (edit.old === edit.new) return failed('The old and the new text are the same; nothing was changed.', 'Give a new text that differs.')
  const before = await snapshotOf(workspace, place, largestEditable)
  if (before.kind === 'absent') throw await workspace.missing(place)
  const { text, hasBom } = textOfSnapshot(before, place)
  const result = replaceText(text, edit)
  if ((result.kind === 'missing' || result.kind === 'several') && !(await mayShowContent(workspace, place, mayUse)))
    throw transparentForms(place, result.kind)
  if (result.kind === 'missing') throw notFound(place, text, edit)
  if (result.kind === 'excessive') return failed(`There are too many places to change in ${place.relative}.`, 'Use a shell command.')
  if (result.kind === 'several') throw foundTooOften(place, text, result.lines)
  if (result.text === text) return failed(`${place.relative} would not change: only line endings differ.`, 'Give a new text that differs.')
  await commitWrites(workspace, [{ place, before, content: encodeText(result.text, hasBom) }], signal)
  return reportChanges([{ path: place.relative, kind: 'update', before: text, after: result.text }], maxOutputBytes)
}

function transparentForms({ relative }: WorkspacePath, kind: 'missing' | 'several'): FileError {
  const what = kind === 'missing' ? 'not in' : 'more than once in'
  const remedy = kind === 'missing' ? 'Match it exactly, including whitespace' : 'Add surrounding lines, set replace_all'
  return new FileError(
    'invalid_input',
    `The old text is ${what} ${relative}. ${hiddenContentNote}`,
    `${remedy}, or write the whole file with write_file.`,
  )
}

function notFound({ relative }: WorkspacePath, text: string, edit: Edit): FileError {
  if (edit.new.trim().length >= leastTelling && text.includes(edit.new)) {
    const line = text.slice(0, text.indexOf(edit.new)).split('\n').length
    return new FileError(
      'invalid_input',
      `The old text is not in ${relative}, but the new one is, at line ${line}.`,
      'The edit may already be done. Read the file.',
    )
  }
  const lines = text.split('\n')
  const wanted = edit.old.replace(/\n$/, '').split('\n')
  const near = nearestLines(lines, wanted)
  if (near === undefined)
    return new FileError(
      'invalid_input',
      `The old text is not in ${relative}, and nothing similar is.`,
      'Read the file and copy the text exactly.',
    )
  const rows = numbered(lines, near.line, Math.min(mostShown, wanted.length + 1))
  const how = near.differsInSpace ? ' Only whitespace differs' : ' The most similar lines are'
  return new FileError(
    'invalid_input',
    `The old text is not in ${relative}.${how}:\n${rows.join('\n')}\n`,
    'Copy the text exactly, without the line number and the tab.',
  )
}

function foundTooOften({ relative }: WorkspacePath, text: string, at: readonly number[]): FileError {
  const lines = text.split('\n')
  const rows = at.slice(0, 5).flatMap((line) => numbered(lines, line, 1))
  return new FileError(
    'invalid_input',
    `The old text is in ${relative} ${at.length} times, at lines ${joinNames(at.map(String), 20)}:\n${rows.join('\n')}\n`,
    'Add surrounding lines until it is unique, or set replace_all.',
  )
}
