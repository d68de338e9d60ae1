import { Replaced } from './replaced.ts'
import type { Ending, RunningCommand, StartResult } from './sandbox-types.ts'

const mostTries = 3

/** How bubblewrap tells of something that it was to bind or to cover. */
const isAboutAPath = /^bwrap: Can't (?:create|find|mount|bind|get|mkdir|stat)\b/

/**
 * What was to be bound or covered may be gone by then: a socket of a service that ends, or what another program in the same
 * workspace had made for a command of its own. Then nothing of the command has begun, and the walls are built anew from what
 * is there now. To whoever waits, it is one command.
 */
export async function startAgain(start: () => Promise<StartResult>): Promise<StartResult> {
  const first = await planned(start)
  return first.ok ? { ok: true, running: persistent(first.running, start) } : first
}

/** Planned anew, where that failed in the same way. */
async function planned(start: () => Promise<StartResult>, tries = 1): Promise<StartResult> {
  const result = await start()
  return !result.ok && result.isReplaced && tries < mostTries ? planned(start, tries + 1) : result
}

const isWorthATry = ({ startFault = '' }: Ending): boolean => isAboutAPath.test(startFault) || Replaced.isToldBy(startFault)

function persistent(first: RunningCommand, start: () => Promise<StartResult>): RunningCommand {
  let running = first
  let take: (piece: Uint8Array) => void = () => {}
  let isUnwanted = false
  const end = async (tries: number): Promise<Ending> => {
    const ending = await running.ended
    if (tries === mostTries || isUnwanted || !isWorthATry(ending)) return ending
    const next = await planned(start)
    if (!next.ok) return { ...ending, startFault: next.failure.message }
    running = next.running
    running.listen(take)
    if (isUnwanted) running.kill()
    return end(tries + 1)
  }
  return {
    ended: end(1),
    listen: (to) => {
      take = to
      running.listen(to)
    },
    terminate: () => {
      isUnwanted = true
      running.terminate()
    },
    kill: () => {
      isUnwanted = true
      running.kill()
    },
  }
}
