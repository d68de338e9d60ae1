// Process 1 of a sandbox, as a shell script.
//
// 1. It enters its control group, reports, and waits for one line. Without it, it exits, and has done nothing.
// 2. It sets variables of the program loader only for the command: they can name libraries in the workspace, which would run
//    in bubblewrap, outside of the sandbox, or here before the sandbox was checked.
// 3. Then it runs the command and adopts orphans. When it exits, the kernel ends every process of the sandbox.
import { release } from 'node:os'
import type { SandboxPolicy } from '../../contracts/index.ts'
import type { Descriptors } from './sandboxed-command.ts'

/** The exit code of shells for a command that could not be run. */
const notStarted = 125
const notEntered = 'it could not enter the control group that limits its processes'

interface InitOptions extends Pick<SandboxPolicy, 'processes'>, Omit<Descriptors, 'bridge'> {
  readonly separatesErrors?: boolean
  readonly loaderVariables: { readonly [name: string]: string }
}

export const isLoaderVariable = (name: string): boolean => /^(?:LD_\w+|GLIBC_TUNABLES|GCONV_PATH)$/.test(name)

export function initScript({ processes, gate, cgroup, loaderVariables, separatesErrors }: InitOptions): string {
  const enter = cgroup === undefined ? '' : `echo 0 >&${cgroup} || { echo "${notEntered}" >&2; exit ${notStarted}; }; exec ${cgroup}>&-; `
  const wait = `{ echo >&${gate} && read -r word <&${gate}; } 2>/dev/null || exit ${notStarted}; exec ${gate}>&-; `
  return `${enter}${wait}${separatesErrors ? '' : 'exec 2>&1; '}ulimit -c 0; ${userLimit(processes)}${exported(loaderVariables)}"$@"; exit $?`
}

const exported = (variables: InitOptions['loaderVariables']): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'; `)
    .join('')

/** Twice the limit, so that the watcher sees it exceeded and reports it. Shells differ in the letter for it. */
function userLimit(processes: number): string {
  const most = processes * 2
  return isCountedPerNamespace() ? `ulimit -u ${most} 2>/dev/null || ulimit -p ${most} 2>/dev/null; ` : ''
}

/** Older kernels count all processes of a user, in every namespace: a desktop has more than a command may have. */
export function isCountedPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}
