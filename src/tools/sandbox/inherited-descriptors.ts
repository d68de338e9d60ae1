import type { StdioOptions } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'

type Descriptors = Exclude<StdioOptions, string>

/**
 * Descriptors that this process inherited, from an editor for example, would be open in the command as well, and an open
 * folder is a way out of the sandbox. They are replaced by `/dev/null`.
 */
export function withoutInherited(descriptors: Descriptors): Descriptors {
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor >= descriptors.length)
  if (inherited.length === 0) return descriptors
  devNull ??= openSync('/dev/null', 'r')
  const all: Descriptors = [...descriptors]
  for (const descriptor of inherited) {
    while (all.length < descriptor) all.push('ignore')
    all[descriptor] = devNull
  }
  return all
}

let devNull: number | undefined

/** Descriptors without FD_CLOEXEC. Only Linux lists them. */
function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter(isInherited)
      .toSorted((one, other) => one - other)
  } catch {
    return []
  }
}

function isInherited(descriptor: number): boolean {
  const closedOnExec = 0o2000000
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closedOnExec) === 0
  } catch {
    return false
  }
}
