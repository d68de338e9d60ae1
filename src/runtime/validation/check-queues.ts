import type { Problem } from '../../contracts/index.ts'
import type { QueueLimits } from '../../steps/index.ts'
import { checkKeys, expectObject, show } from '../../util/option-problems.ts'

const queueKeys = ['concurrent', 'perMinute'] satisfies (keyof QueueLimits)[]

export function checkQueues(problems: Problem[], queues: { readonly [name: string]: QueueLimits }): void {
  for (const [name, limits] of Object.entries(queues)) {
    const place = `config.queues.${name}`
    if (name.trim() === '') problems.push({ place, message: 'expected the name of a provider, a tool or a namespace' })
    if (!expectObject(problems, limits ?? null, place)) continue
    checkKeys(problems, limits, { known: queueKeys, place })
    for (const key of queueKeys) {
      const value: unknown = limits[key]
      if (value !== undefined && (!Number.isSafeInteger(value) || (value as number) < 1))
        problems.push({ place: `${place}.${key}`, message: `expected a whole number of at least 1, found ${show(value)}` })
    }
    if (Object.keys(limits).length === 0)
      problems.push({ place, message: 'a queue without limits caps nothing', remedy: `Give ${queueKeys.join(' or ')}, or leave it out.` })
  }
}
