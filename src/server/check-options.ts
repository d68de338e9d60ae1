import type { Problem } from '../contracts/index.ts'
import { headendProblems } from '../project/index.ts'
import {
  aBoolean,
  aFunction,
  aString,
  checkField,
  checkFields,
  checkKeys,
  checkOnlyFields,
  type FieldType,
  isPlainRecord,
  optional,
  problemsError,
} from '../util/option-problems.ts'
import type { ServerOptions } from './server-options.ts'

const anObject: FieldType = { expected: 'an object', accepts: isPlainRecord }
const hasMethods = (expected: string, methods: readonly string[]): FieldType => ({
  expected,
  accepts: (value) =>
    typeof value === 'object' && value !== null && methods.every((name) => typeof Reflect.get(value, name) === 'function'),
})

/** Segments of a path as they stand in an address. */
const aPath: FieldType = {
  expected: 'a path such as "/agents"',
  remedy: 'Begin it with a slash, and write other characters than letters, digits and -._~ in their encoded form.',
  accepts: (value) => typeof value === 'string' && /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\dA-F]{2})+)*\/?$/i.test(value),
}

const common = {
  settings: optional(anObject),
  basePath: optional(aPath),
  reloads: optional(aBoolean),
  log: optional({ expected: 'an object with functions', accepts: isPlainRecord }),
  models: optional(hasMethods('models to connect', ['use', 'attach', 'find', 'connect'])),
  demo: optional({ expected: 'the demonstration', accepts: (value) => typeof value === 'object' }),
} satisfies { readonly [key: string]: FieldType }

const forms = {
  project: { project: hasMethods('the result of loadProject', ['reload']) },
  kernel: { kernel: hasMethods('the result of createKernel', ['attach', 'start', 'close']) },
  runtime: {
    runtime: hasMethods('the result of createAgentRuntime', ['run', 'hostedBy']),
    store: hasMethods('the store of the runtime', ['close']),
    dataDir: optional(aString),
  },
} as const

const logFunctions = { debug: aFunction, note: aFunction, warn: aFunction, failure: aFunction, access: aFunction }

/** @throws TroupeError `config_invalid` with all problems. */
export function checkServerOptions(options: ServerOptions): void {
  const problems: Problem[] = []
  const place = 'options'
  if (!checkField(problems, options, { type: anObject, place })) throw problemsError('config_invalid', 'options of createServer', problems)
  const given = (['project', 'kernel', 'runtime'] as const).filter((name) => Reflect.get(options, name) !== undefined)
  const [form = 'runtime'] = given
  if (given.length > 1)
    problems.push({
      place,
      message: `expected one of project, kernel and runtime, found ${given.join(' and ')}`,
      remedy: 'Remove the others.',
    })
  if (given.length === 0)
    problems.push({ place, message: 'expected project, kernel, or runtime and store', remedy: 'Say what the server serves.' })
  else checkFields(problems, options, { fields: forms[form], place })
  checkKeys(problems, options, { known: [...Object.keys(common), ...Object.keys(Object.assign({}, ...Object.values(forms)))], place })
  checkFields(problems, options, { fields: common, place })
  const { settings, log } = options
  if (isPlainRecord(settings)) problems.push(...headendProblems(settings, `${place}.settings`))
  if (isPlainRecord(log))
    checkOnlyFields(problems, log, {
      fields: Object.fromEntries(Object.entries(logFunctions).map(([name, type]) => [name, optional(type)])),
      place: `${place}.log`,
    })
  if (problems.length > 0) throw problemsError('config_invalid', 'options of createServer', problems)
}

/** `/agents/` and `/` are written, too. */
export const withoutLastSlash = (path: string): string => path.replace(/\/$/, '')
