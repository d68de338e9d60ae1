import type { StdioOptions } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'

type Descriptors = Exclude<StdioOptions, string>

/**
 * What our own starter left open, an editor's files for example, would be open in the command as well, walls or not: a
 * folder that is open leads anywhere. So all of that leads nowhere instead.
 */
export function withoutInherited(descriptors: Descriptors): Descriptors {
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor >= descriptors.length)
  if (inherited.length === 0) return descriptors
  nowhere ??= openSync('/dev/null', 'r')
  const all: Descriptors = [...descriptors]
  for (const descriptor of inherited) {
    while (all.length < descriptor) all.push('ignore')
    all[descriptor] = nowhere
  }
  return all
}

let nowhere: number | undefined

/** Those that are not closed when a program is started. Only Linux tells. */
function inheritedDescriptors(): readonly number[] {
  const closedOnStart = 0o2000000
  return openDescriptors().filter((descriptor) => {
    const flags = /^flags:\s+(\d+)/m.exec(factsOf(descriptor))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closedOnStart) === 0
  })
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .toSorted((a, b) => a - b)
  } catch {
    return []
  }
}

function factsOf(descriptor: number): string {
  try {
    return readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')
  } catch {
    return ''
  }
}
