import type { ApprovalWish, JsonObject, Tool, ToolContext, ToolOutput } from '../../../contracts/index.ts'
import { commitWrites, FileFault, type Place, type Snapshot, snapshotOf, type Workspace } from '../../workspace/index.ts'
import { diffOf, previewOf } from './change-preview.ts'
import { changeView, changeWish, type DoneChange, reportChanges } from './changes.ts'
import { largestEditable, textOfSnapshot } from './editable-text.ts'
import { encodeText } from './file-kind.ts'
import { laneKey } from './lane-key.ts'
import { nearestLines, numbered } from './nearest-lines.ts'
import { mayTell } from './read-wish.ts'
import { type Edit, replaceText } from './replace-text.ts'
import { failed, heed, returned } from './returned.ts'
import { listed, untoldNote } from './wording.ts'

/** Lines around the place that may have been meant. */
const mostShown = 12
/** A shorter text stands somewhere in most files. */
const leastTelling = 10

export function editFileTool(workspace: Workspace): Tool {
  return {
    name: 'edit_file',
    description:
      'Replaces a text in a file of the workspace by another. The old text must stand there exactly once, letter by letter with its indentation and without line numbers; with replace_all every occurrence is replaced.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'The file, from the root of the workspace.' },
        old: { type: 'string', minLength: 1, description: 'The text to replace, with enough around it to be found once.' },
        new: { type: 'string', description: 'What stands there instead; empty to take the old text out.' },
        replace_all: { type: 'boolean', description: 'Replaces every occurrence. Default false.' },
      },
      required: ['path', 'old', 'new'],
      additionalProperties: false,
    },
    effect: 'write',
    concurrency: { key: ({ path }) => laneKey(workspace, path) },
    approval: (input) => editWish(workspace, input),
    view: ({ path }) => changeView([{ path: String(path), kind: 'update' }]),
    execute: (input, context) => returned(() => editFile(workspace, input, context)),
  }
}

async function editWish(workspace: Workspace, input: JsonObject): Promise<ApprovalWish | undefined> {
  const path = String(input.path)
  const wish = changeWish(workspace, 'Edit', [path])
  const preview =
    wish && (await previewOf(workspace, { path, mostBytes: largestEditable, change: (...file) => edited(editOf(input), ...file) }))
  return wish && preview ? { ...wish, ...(await diffOf(workspace, preview)) } : wish
}

/** An edit that does not fit is told when it is tried. */
function edited(edit: Edit, before: Snapshot, place: Place): Omit<DoneChange, 'path'> | undefined {
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
  heed(signal)
  const place = workspace.place(String(input.path))
  const edit = editOf(input)
  if (edit.old === '') return failed('The old text is empty.', 'Give the text to replace, or use write_file to write the whole file.')
  if (edit.old === edit.new) return failed('The old and the new text are the same; nothing was changed.', 'Give a new text that differs.')
  const before = await snapshotOf(workspace, place, largestEditable)
  if (before.kind === 'absent') throw await workspace.missing(place)
  const { text, hasBom } = textOfSnapshot(before, place)
  const result = replaceText(text, edit)
  if ((result.kind === 'missing' || result.kind === 'several') && !(await mayTell(workspace, place, mayUse)))
    throw untold(place, result.kind)
  if (result.kind === 'missing') throw notFound(place, text, edit)
  if (result.kind === 'excessive')
    return failed(`There are too many places to change in ${place.relative} at once.`, 'Use a command for this.')
  if (result.kind === 'several') throw foundTooOften(place, text, result.lines)
  if (result.text === text) return failed(`${place.relative} would stay as it is: only line ends differ.`, 'Give a new text that differs.')
  await commitWrites(workspace, [{ place, before, content: encodeText(result.text, hasBom) }], signal)
  return reportChanges([{ path: place.relative, kind: 'update', before: text, after: result.text }], maxOutputBytes)
}

function untold({ relative }: Place, kind: 'missing' | 'several'): FileFault {
  const what = kind === 'missing' ? 'not in' : 'more than once in'
  const remedy = kind === 'missing' ? 'Give it letter by letter' : 'Add what stands around it, set replace_all'
  return new FileFault(
    'invalid_input',
    `The old text is ${what} ${relative}. ${untoldNote}`,
    `${remedy}, or write the whole file with write_file.`,
  )
}

function notFound({ relative }: Place, text: string, edit: Edit): FileFault {
  if (edit.new.trim().length >= leastTelling && text.includes(edit.new)) {
    const line = text.slice(0, text.indexOf(edit.new)).split('\n').length
    return new FileFault(
      'invalid_input',
      `The old text is not in ${relative}, but the new one is, at line ${line}.`,
      'Perhaps this was done already; read the file.',
    )
  }
  const lines = text.split('\n')
  const wanted = edit.old.replace(/\n$/, '').split('\n')
  const near = nearestLines(lines, wanted)
  if (near === undefined)
    return new FileFault(
      'invalid_input',
      `The old text is not in ${relative}, nor anything like it.`,
      'Read the file, and copy the text from there.',
    )
  const rows = numbered(lines, near.line, Math.min(mostShown, wanted.length + 1))
  const how = near.differsInSpace ? ' Only spaces and tabs differ' : ' The most similar place is this'
  return new FileFault(
    'invalid_input',
    `The old text is not in ${relative}.${how}:\n${rows.join('\n')}\n`,
    'Copy the text exactly as it stands there, without the number and the tab.',
  )
}

function foundTooOften({ relative }: Place, text: string, at: readonly number[]): FileFault {
  const lines = text.split('\n')
  const rows = at.slice(0, 5).flatMap((line) => numbered(lines, line, 1))
  return new FileFault(
    'invalid_input',
    `The old text is in ${relative} ${at.length} times, at lines ${listed(at.map(String), 20)}:\n${rows.join('\n')}\n`,
    'Add lines around it until it is unique, or set replace_all.',
  )
}
