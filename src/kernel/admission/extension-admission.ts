// Whether an extension may be loaded: manifest, entry file, types, and a trial in the sandbox.
//
// 1. The trial runs with an empty data folder and a context without effects. It ends with `destroy`, and nothing of it is kept.
// 2. What passed completely is remembered by content, so that a restart does not check it again. What failed is checked again.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, type ExtensionProblem, TroupeError } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { messageOf } from '../../util/message-of.ts'
import { hashUnchanged } from '../loader/hash-folder.ts'
import { detectCapabilities } from '../loader/managed-extension.ts'
import { entryFile } from '../manifest/entry-file.ts'
import type { ExtensionSandbox, OpenableExtension } from '../process/extension-sandbox.ts'
import { openInSandbox } from '../process/open-in-sandbox.ts'
import { trustedOnlyText } from '../process/runner/process-context.ts'
import { problemsOf } from '../shared/extension-failure.ts'
import type { FoundExtension, OpenExtension } from '../shared/kernel-types.ts'
import { checkTypes, type TypeCheck } from './check-types.ts'
import { runtimeImports } from './runtime-imports.ts'
import { trialContext } from './trial-context.ts'

interface AdmissionOptions {
  readonly sandbox: ExtensionSandbox
  readonly clock: Clock
  readonly workspace: string
  /** Where extensions have their data folders, absolute. */
  readonly dataFolder: string
}

export interface Admission {
  /** Empty if it may be loaded. */
  readonly problems: readonly ExtensionProblem[]
  /** What could not be checked. */
  readonly notices: readonly string[]
}

export interface ExtensionAdmissions {
  validate(found: FoundExtension): Promise<Admission>
  /** Opens an extension that is not trusted in a sandboxed process, after it was validated. */
  readonly open: OpenExtension
}

export function extensionAdmissions(options: AdmissionOptions): ExtensionAdmissions {
  const { sandbox, clock, dataFolder } = options
  const open = openInSandbox({ sandbox, clock, dataDir: (id) => join(dataFolder, id) })
  const validate: ExtensionAdmissions['validate'] = async (found) => {
    // Processes in the sandbox keep nothing alive.
    const release = keepAlive()
    const admission = await check(found, options).finally(release)
    if (admission.problems.length + admission.notices.length === 0) remember(found, dataFolder)
    return admission
  }
  return {
    validate,
    async open(found) {
      hashUnchanged(found)
      if (!isRemembered(found, dataFolder)) {
        const { problems } = await validate(found)
        const [first] = problems
        if (first) throw new TroupeError('extension_failed', first.message, { problems, ...(first.remedy && { remedy: first.remedy }) })
      }
      return open(found)
    },
  }
}

async function check(found: FoundExtension, options: AdmissionOptions): Promise<Admission> {
  const { manifest } = found
  // Beside a manifest they are warnings.
  if (!manifest) return { problems: found.problems, notices: [] }
  if (!manifest.entrypoint) return { problems: [], notices: [] }
  const extension: OpenableExtension = { id: found.id, folder: found.folder, manifest }
  try {
    const entry = entryFile(found.folder, manifest.entrypoint)
    const imports = runtimeImports(found.folder)
    if (imports.length > 0) return { problems: imports, notices: [] }
    const missing = await options.sandbox.unavailable()
    if (missing)
      return { problems: [], notices: [`Types and \`initialize\` were not checked: ${missing.message} ${missing.remedy ?? ''}`.trim()] }
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-trial-')))
    try {
      const types: TypeCheck = entry.endsWith('.ts')
        ? await checkTypes(extension, entry, { ...options, scratch: join(scratch, 'types') })
        : { problems: [] }
      const trial = types.problems.length > 0 ? { problems: [], notices: [] } : await tryOut(found, join(scratch, 'data'), options)
      return {
        problems: [...types.problems, ...trial.problems],
        notices: [types.notice, ...trial.notices].filter((each) => each !== undefined),
      }
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  } catch (error) {
    return { problems: problemsOf(found, 'validation', error), notices: [] }
  }
}

/** Loads it, and calls the methods that the loader calls before it starts. */
async function tryOut(found: FoundExtension, dataDir: string, { sandbox, clock, workspace }: AdmissionOptions): Promise<Admission> {
  const extension = found as Parameters<OpenExtension>[0]
  let stage = 'import'
  try {
    const { instance, close } = await openInSandbox({ sandbox, clock, dataDir: () => dataDir })(extension)
    try {
      const notices = detectCapabilities(instance, extension.manifest).missing
      stage = 'initialize'
      await instance.initialize?.(trialContext(extension, { dataDir, workspace, now: clock.now() }))
      stage = 'getTools'
      await instance.getTools?.()
      stage = 'getSchedule'
      await instance.getSchedule?.()
      stage = 'destroy'
      await instance.destroy?.()
      return { problems: [], notices }
    } finally {
      await close()
    }
  } catch (error) {
    // Once a person trusts it, it has what it asks for.
    if (messageOf(error).includes(trustedOnlyText)) return { problems: [], notices: [`\`${stage}\`: ${messageOf(error)}`] }
    return { problems: problemsOf(found, stage, error), notices: [] }
  }
}

const recordOf = ({ id }: FoundExtension, dataFolder: string): string => join(dataFolder, '.admitted', id)
/** Another version of Node may load it differently. */
const passed = ({ hash }: FoundExtension): string => `${hash} ${process.version}`

function isRemembered(found: FoundExtension, dataFolder: string): boolean {
  try {
    return readFileSync(recordOf(found, dataFolder), 'utf8') === passed(found)
  } catch {
    return false
  }
}

function remember(found: FoundExtension, dataFolder: string): void {
  const file = recordOf(found, dataFolder)
  mkdirSync(join(dataFolder, '.admitted'), { recursive: true })
  writeFileSync(`${file}.new`, passed(found))
  renameSync(`${file}.new`, file)
}
