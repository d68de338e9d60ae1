/*
 * Process 1 of a command's world, as a line for the shell.
 *
 * 1. It steps into its group, says that it is there and waits for our word. Without one it goes, and has done nothing.
 * 2. Then it waits for the command, takes in orphans, and with it everything ends.
 */
import { release } from 'node:os'

export interface FirstProcess {
  readonly processes: number
  /** The descriptor that we speak over. */
  readonly gate: number
  /** The descriptor of the control group that it has to step into, where there is one. */
  readonly group: number | undefined
}

/** What a shell says where something can not be run. */
const notRun = 125
const notInGroup = 'it could not step into the control group that bounds its processes'

export function firstProcess({ processes, gate, group }: FirstProcess): string {
  const step = group === undefined ? '' : `echo 0 >&${group} || { echo "${notInGroup}" >&2; exit ${notRun}; }; exec ${group}>&-; `
  const wait = `{ echo >&${gate} && read -r word <&${gate}; } 2>/dev/null || exit ${notRun}; exec ${gate}>&-; `
  return `${step}${wait}exec 2>&1; ulimit -c 0; ${boundPerUser(processes)}"$@"; exit $?`
}

/** Twice what is allowed, so that whoever watches sees it broken and can tell. Shells differ in the letter for it. */
function boundPerUser(processes: number): string {
  const most = processes * 2
  return isBoundPerNamespace() ? `ulimit -u ${most} 2>/dev/null || ulimit -p ${most} 2>/dev/null; ` : ''
}

/** Before, all processes of a user were counted, wherever they are: a desktop has more than a command may have. */
export function isBoundPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}
