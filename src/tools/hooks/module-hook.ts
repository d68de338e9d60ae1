import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { HookDefinition, HookPoint } from '../../contracts/index.ts'
import { type Answer, type HookPlace, placeOf, type Questions } from './hook-answer.ts'
import { type CheckedFiles, checkHookFiles } from './hook-files.ts'
import { faultText, HookThread, type LoadFault } from './hook-thread.ts'

// A hook that is a module, loaded in its own thread. Questions and answers are JSON, like those of a program.
// It may return no answer.
//
// 1. At most one thread takes questions. It is reused, and restarted after it has ended.
// 2. Before each start the file is checked, and the thread gets the expected hash: it runs nothing else, even if the file
//    is replaced in between.

/** What a module exports for each point. */
export const exportNames: { readonly [Point in HookPoint]: string } = {
  before_call: 'beforeCall',
  after_call: 'afterCall',
  before_request: 'beforeRequest',
  at_stop: 'atStop',
}

type ModuleDefinition = Extract<HookDefinition, { readonly module: string }>

const mostLoadMs = 30_000

export class HookModule {
  readonly #definition: ModuleDefinition
  readonly #place: HookPlace
  readonly #file: string
  #thread: HookThread | undefined

  constructor(definition: ModuleDefinition, place: HookPlace) {
    this.#definition = definition
    this.#place = place
    this.#file = resolve(place.baseDir, definition.module)
  }

  /** Loads the module and reports what is missing. An untrusted module is not loaded: it fails when it is called. */
  async missing(): Promise<{ readonly message: string; readonly remedy: string } | undefined> {
    if (!this.#checked().ok) return undefined
    const fault = await this.#serving().load(mostLoadMs)
    return fault && { message: `${this.#file} ${faultText(fault)}`, remedy: remedyFor(fault) }
  }

  readonly answer: Answer = async (point, view, context) => {
    const question = { view: JSON.stringify(view), place: placeOf(context) }
    const answer = await this.#serving().ask(exportNames[point], question, context.signal)
    // The caller checks the verdict.
    return (answer === undefined ? undefined : JSON.parse(answer)) as Questions[typeof point]['verdict']
  }

  /** Ends the thread. A later question starts another. */
  close(): void {
    this.#thread?.end(new Error('it was closed'))
    this.#thread = undefined
  }

  #serving(): HookThread {
    if (this.#thread?.isServing) return this.#thread
    const checked = this.#checked()
    if (!checked.ok) throw new Error(checked.why)
    const { environment, clock } = this.#place
    const names = this.#definition.on.map((point) => exportNames[point])
    const sha256 = checked.files.find(({ path }) => path === this.#file)?.sha256
    this.#thread = new HookThread({ module: pathToFileURL(this.#file).href, sha256, names, environment, clock })
    return this.#thread
  }

  #checked(): CheckedFiles {
    const { baseDir, trusted } = this.#place
    return trusted ? checkHookFiles(this.#definition, baseDir, trusted) : { ok: true, files: [] }
  }
}

function remedyFor(fault: LoadFault): string {
  return fault.kind === 'lacks'
    ? `Add "export function ${fault.names[0]}", or remove the point from "on".`
    : 'Check the path; it is relative to the file that names it. Check that the module loads: node --check.'
}
