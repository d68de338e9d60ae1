// Processes, from /proc. One that ends meanwhile is left out.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

interface ProcessFacts {
  readonly pid: number
  readonly threads: number
  /** Bytes in memory, shared ones included. */
  readonly resident: number
}

/**
 * A process and all of its descendants. Process 1 of a namespace adopts every orphan, so none is missed. A tree may grow faster
 * than it can be walked, so the walk ends after more than `most` threads.
 */
export function processTree(first: number, most = Number.POSITIVE_INFINITY): readonly ProcessFacts[] {
  const found: ProcessFacts[] = []
  const seen = new Set<number>()
  let open = [first]
  let threads = 0
  while (open.length > 0) {
    for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
      const facts = seen.has(pid) ? undefined : factsOf(pid)
      seen.add(pid)
      if (!facts) continue
      found.push(facts)
      threads += facts.threads
      if (threads > most) return found
      open.push(...childrenOf(pid))
    }
    // A process that lost its parent meanwhile is now a child of the first.
    open = childrenOf(first).filter((pid) => !seen.has(pid))
  }
  return found
}

/** The memory of processes, each shared byte counted once; nothing where the kernel does not report it. */
export function sharedOnce(pids: readonly number[]): number | undefined {
  let sum = 0
  for (const pid of pids) {
    const text = readProc(`/proc/${pid}/smaps_rollup`)
    if (text === undefined) continue
    const found = /^Pss:\s+(\d+) kB/m.exec(text)
    if (!found) return undefined
    sum += Number(found[1]) * 1024
  }
  return sum === 0 ? undefined : sum
}

/** Processes with a variable in their environment, whatever session or parent they have now. */
export function processesWith(variable: string): readonly number[] {
  return allProcesses().filter((pid) => readProc(`/proc/${pid}/environ`)?.split('\0').includes(variable))
}

/** Marks a process and its descendants by a variable that they inherit. No mark is used twice. */
export interface Mark {
  readonly environment: { readonly [name: string]: string }
  /** `variable=value`, as in the environment of a process. */
  readonly text: string
}

export function newMark(variable: string): Mark {
  const value = randomUUID()
  return { environment: { [variable]: value }, text: `${variable}=${value}` }
}

/** A process may fork while it is searched for. */
const mostSweeps = 20

/** Kills processes that left their group, too. Works on Linux only, and only if the variable was passed on. Slow. */
export function killMarked({ text }: Mark): void {
  const ended = new Set<number>()
  for (let count = 0; count < mostSweeps; count++) {
    const left = processesWith(text).filter((pid) => !ended.has(pid))
    if (left.length === 0) return
    for (const pid of left) sendSignal(pid, 'SIGKILL')
    for (const pid of left) ended.add(pid)
  }
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended.
  }
}

function allProcesses(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function factsOf(pid: number): ProcessFacts | undefined {
  const status = readProc(`/proc/${pid}/status`)
  if (status === undefined) return undefined
  const number = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return { pid, threads: number('Threads'), resident: number('VmRSS') * 1024 }
}

/** Each thread has children of its own. */
export function childrenOf(pid: number): readonly number[] {
  let threads: readonly string[]
  try {
    threads = readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
  return threads.flatMap((thread) => (readProc(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number))
}

export function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
