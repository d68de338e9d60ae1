// What a kernel tells other processes about its extensions, in the store. The record stays when the kernel has ended.
import type { Clock, ExtensionProblem, ExtensionState, ExtensionStatus, Json, Records } from '../contracts/index.ts'
import { kernelHolder } from './lease/kernel-lease.ts'

const [namespace, key] = ['kernel_status', 'kernel']

interface RecordedExtension {
  readonly id: string
  /** Of its content. */
  readonly hash: string
  readonly state: ExtensionState
  readonly problems: readonly ExtensionProblem[]
  /** Milliseconds since 1970: when this was new. */
  readonly at: number
}

interface RecordedKernel {
  readonly holder: string
  readonly extensions: readonly RecordedExtension[]
}

export interface KernelReport extends RecordedKernel {
  /** Otherwise it was the last one. */
  readonly isRunning: boolean
}

export async function readKernelReport(records: Pick<Records, 'get'>, now: number): Promise<KernelReport | undefined> {
  const stored = (await records.get(namespace, key))?.value as RecordedKernel | undefined
  return stored && { ...stored, isRunning: (await kernelHolder(records, now)) === stored.holder }
}

interface RecorderOptions {
  readonly records: Records
  readonly clock: Pick<Clock, 'now'>
  readonly holder: string
  status(): readonly (Omit<RecordedExtension, 'at'> & Pick<ExtensionStatus, 'id'>)[]
  onFailure(error: unknown): void
}

export class StatusRecorder {
  readonly #options: RecorderOptions
  #known: ReadonlyMap<string, RecordedExtension> = new Map()
  #writing: Promise<void> | undefined
  #isChanged = false

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Resolves when the status of now is stored. Changes while it writes are written together. */
  async record(): Promise<void> {
    this.#isChanged = true
    this.#writing ??= this.#write()
    await this.#writing
  }

  async #write(): Promise<void> {
    const { records, clock, holder, status, onFailure } = this.#options
    while (this.#isChanged) {
      this.#isChanged = false
      const extensions = status().map((each): RecordedExtension => {
        const before = this.#known.get(each.id)
        const isSame = before && JSON.stringify({ ...each, at: before.at }) === JSON.stringify(before)
        return isSame ? before : { ...each, at: clock.now() }
      })
      this.#known = new Map(extensions.map((each) => [each.id, each]))
      const value = JSON.parse(JSON.stringify({ holder, extensions })) as Json
      try {
        await records.update(namespace, key, () => ({ value }))
      } catch (error) {
        onFailure(error)
      }
    }
    this.#writing = undefined
  }
}
