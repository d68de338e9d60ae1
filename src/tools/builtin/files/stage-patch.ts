import type { ToolContext } from '../../../contracts/index.ts'
import { type FileWrite, type Snapshot, snapshotOf, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import { type FileChange, sizeNote } from './change-report.ts'
import { encodeText, largestEditable, textOfSnapshot } from './file-kind.ts'
import { nearestLines, numbered } from './nearest-lines.ts'
import { type AppliedHunks, applyHunks } from './patch/apply-hunks.ts'
import type { FilePatch, Hunk } from './patch/patch-types.ts'
import { mayShowContent } from './read-approval.ts'
import { countOf, fitLine, hiddenContentNote } from './tool-output.ts'

/** Content of a file while a patch is applied. `raw`: unchanged, not editable. */
type Content =
  | { readonly kind: 'absent' }
  | { readonly kind: 'text'; readonly text: string; readonly hasBom: boolean }
  | { readonly kind: 'raw'; readonly bytes: Buffer | undefined; readonly what: string; readonly size: number }

interface Staged {
  readonly place: WorkspacePath
  readonly before: Snapshot
  readonly original: Content
  current: Content
  mode: number | undefined
  readonly isReadable: boolean
}

/** A part does not apply; the others are still checked, so that all problems are reported. */
class Mismatch extends Error {}

/** Applies a patch in memory: each part sees the result of the earlier parts. A file that cannot be used at all throws. */
export class PatchStage {
  readonly failures: string[] = []
  readonly #workspace: Workspace
  readonly #mayUse: ToolContext['mayUse']
  readonly #files = new Map<string, Staged>()
  /** New paths by old absolute paths. */
  readonly #moves = new Map<string, WorkspacePath>()

  constructor(workspace: Workspace, { mayUse }: Pick<ToolContext, 'mayUse'>) {
    this.#workspace = workspace
    this.#mayUse = mayUse
  }

  async stage(patch: FilePatch): Promise<void> {
    try {
      const file = await this.#file(patch.path)
      if (patch.kind === 'add') add(file, patch.content, patch.mode)
      else if (patch.kind === 'delete') await this.#remove(file, patch.hunks)
      else await this.#update(file, patch)
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      this.failures.push(error.message)
    }
  }

  /** Empty if the files already match the patch. */
  writes(): readonly FileWrite[] {
    return [...this.#files.values()].flatMap(({ place, before, original, current, mode }): readonly FileWrite[] => {
      if (current.kind === 'absent') return before.kind === 'absent' ? [] : [{ place, before, content: undefined }]
      const isSame = before.kind === 'file' && (mode === undefined || mode === before.mode) && isEqual(original, current)
      return isSame ? [] : [{ place, before, content: bytesOf(current), ...(mode !== undefined && { mode }) }]
    })
  }

  changes(): readonly FileChange[] {
    const moved = new Set([...this.#moves.values()].map(({ absolute }) => absolute))
    return [...this.#files.values()].flatMap((file): readonly FileChange[] => {
      const { place, original, current, mode, before } = file
      const path = place.relative
      const to = this.#moves.get(place.absolute)
      const target = to && this.#files.get(to.absolute)
      if (to && target) return [{ path, kind: 'move', to: to.relative, ...versions(original, target.current) }]
      if (moved.has(place.absolute) || (original.kind === 'absent' && current.kind === 'absent')) return []
      if (current.kind === 'absent') return [{ path, kind: 'delete', ...versions(original, current) }]
      if (original.kind === 'absent') return [{ path, kind: 'add', ...versions(original, current) }]
      const isModeSame = mode === undefined || before.kind === 'absent' || mode === before.mode
      return isEqual(original, current) && isModeSame ? [] : [{ path, kind: 'update', ...versions(original, current) }]
    })
  }

  async #file(path: string): Promise<Staged> {
    const place = this.#workspace.place(path)
    const known = this.#files.get(place.absolute)
    if (known) return known
    const before = await snapshotOf(this.#workspace, place, largestEditable)
    const original = contentOf(before, place)
    const isReadable = await mayShowContent(this.#workspace, place, this.#mayUse)
    const file: Staged = { place, before, original, current: original, mode: undefined, isReadable }
    this.#files.set(place.absolute, file)
    return file
  }

  async #remove(file: Staged, hunks: readonly Hunk[]): Promise<void> {
    if (file.current.kind === 'absent') throw await this.#missing(file.place)
    if (hunks.length > 0 && patched(file, hunks) !== '') {
      throw new Mismatch(`${file.place.relative} is not deleted: it holds more than the patch takes out.`)
    }
    file.current = { kind: 'absent' }
  }

  async #update(file: Staged, { to, hunks, mode }: Extract<FilePatch, { readonly kind: 'update' }>): Promise<void> {
    if (file.current.kind === 'absent') throw await this.#missing(file.place)
    if (hunks.length > 0)
      file.current = { kind: 'text', text: patched(file, hunks), hasBom: file.current.kind === 'text' && file.current.hasBom }
    file.mode = mode ?? file.mode
    if (to === undefined) return
    const target = await this.#file(to)
    if (target === file) return
    if (target.current.kind !== 'absent')
      throw new Mismatch(`${file.place.relative} cannot be moved: ${target.place.relative} exists already.`)
    if (file.current.kind === 'raw' && file.current.bytes === undefined)
      throw new Mismatch(`${file.place.relative} is too large to be moved by a patch.`)
    target.current = file.current
    target.mode = file.mode ?? (file.before.kind === 'file' ? file.before.mode : undefined)
    file.current = { kind: 'absent' }
    this.#moves.set(file.place.absolute, target.place)
  }

  async #missing(place: WorkspacePath): Promise<Mismatch> {
    const { message, remedy } = (await this.#workspace.missing(place)).failure
    return new Mismatch(remedy === undefined ? message : `${message} ${remedy}`)
  }
}

function add(file: Staged, content: string, mode: number | undefined): void {
  if (file.current.kind !== 'absent') throw new Mismatch(`${file.place.relative} cannot be added: it exists already. Update it instead.`)
  file.current = { kind: 'text', text: content, hasBom: false }
  file.mode = mode ?? file.mode
}

const textIn = (content: Content): string => (content.kind === 'text' ? content.text : '')

function patched(file: Staged, hunks: readonly Hunk[]): string {
  const { place, current } = file
  if (current.kind === 'raw') throw new Mismatch(`${place.relative} cannot be patched: ${current.what}, ${countOf(current.size, 'byte')}.`)
  const applied = applyHunks(textIn(current), hunks)
  if (applied.ok) return applied.text
  throw new Mismatch(hunkFailure(file, hunks, applied))
}

type FailedHunk = Extract<AppliedHunks, { readonly ok: false }>

const mostShown = 8

/** Which hunk does not apply, its expected lines, and the actual lines. */
function hunkFailure({ place, current, isReadable }: Staged, hunks: readonly Hunk[], { index, why }: FailedHunk): string {
  const hunk = hunks[index]
  const which = `Hunk ${index + 1} of ${hunks.length} for ${place.relative} (line ${hunk?.patchLine ?? 1} of the patch)`
  if (why === 'overlap' || hunk === undefined) return `${which} overlaps an earlier hunk.`
  const old = hunk.lines.filter(({ mark }) => mark !== '+').map((line) => line.text)
  const wanted = old.length > 0 ? old : hunk.anchors
  const sought = wanted.slice(0, mostShown).map((line) => `  ${fitLine(line)}`)
  const looked = `${which} does not apply. It expects:\n${sought.join('\n')}`
  if (!isReadable) return `${looked}\n${hiddenContentNote}`
  const lines = textIn(current).split('\n')
  const near = nearestLines(lines, wanted)
  const start = near?.line ?? (hunk.position === undefined ? undefined : hunk.position + 1)
  const there = start === undefined ? [] : numbered(lines, start, Math.min(mostShown, wanted.length + 1))
  const found = there.length === 0 ? 'Nothing similar is in the file.' : `Line ${start} has:\n${there.join('\n')}`
  return `${looked}\n${found}`
}

function contentOf(before: Snapshot, place: WorkspacePath): Content {
  if (before.kind === 'absent') return { kind: 'absent' }
  try {
    const { text, hasBom } = textOfSnapshot(before, place)
    return { kind: 'text', text, hasBom }
  } catch {
    return { kind: 'raw', bytes: before.bytes, what: before.bytes ? 'no UTF-8 text' : 'too large to compare', size: before.size }
  }
}

const isEqual = (one: Content, other: Content): boolean =>
  one === other || (one.kind === 'text' && other.kind === 'text' && one.text === other.text)

function bytesOf(content: Exclude<Content, { kind: 'absent' }>): string | Buffer {
  return content.kind === 'text' ? encodeText(content.text, content.hasBom) : (content.bytes ?? Buffer.alloc(0))
}

function versions(before: Content, after: Content): Pick<FileChange, 'before' | 'after' | 'note'> {
  const raw = before.kind === 'raw' ? before : after.kind === 'raw' ? after : undefined
  if (raw) return { before: undefined, after: undefined, note: sizeNote(raw.what, raw.size) }
  return { before: before.kind === 'text' ? before.text : undefined, after: after.kind === 'text' ? after.text : undefined }
}
