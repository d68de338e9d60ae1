import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { HookContext, HookPoint } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Answer, Questions } from './questions.ts'

/** What a module exports for each point. */
export const exportNames: { readonly [Point in HookPoint]: string } = {
  before_call: 'beforeCall',
  after_call: 'afterCall',
  before_request: 'beforeRequest',
  at_stop: 'atStop',
}

type Loaded = { readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly missing: Missing }

interface Missing {
  readonly message: string
  readonly remedy: string
}

type Exported = (view: Questions[HookPoint]['view'], context: HookContext) => unknown

/** Loads a module that answers for a hook. What its top level does is done now, once. */
export async function loadModule(path: string, on: readonly HookPoint[], baseDir: string): Promise<Loaded> {
  const file = resolve(baseDir, path)
  let exported: { readonly [name: string]: unknown }
  try {
    exported = (await import(pathToFileURL(file).href)) as { readonly [name: string]: unknown }
  } catch (error) {
    const remedy = 'Check the path, which is relative to the file that names it, and that the module loads on its own: node --check.'
    return { ok: false, missing: { message: `${file} cannot be loaded: ${messageOf(error)}`, remedy } }
  }
  const missing = on.map((point) => exportNames[point]).filter((name) => typeof exported[name] !== 'function')
  if (missing.length > 0) {
    const message = `${file} exports no function ${missing.join(', ')}`
    return { ok: false, missing: { message, remedy: `Add "export function ${missing[0]}", or take the point out of "on".` } }
  }
  const answer: Answer = async (point, view, context) =>
    (await (exported[exportNames[point]] as Exported)(view, context)) as Questions[typeof point]['verdict']
  return { ok: true, answer }
}
