import type { Usage } from '../../contracts/index.ts'

/** Only figures that are figures: models are other people's code. */
export function isUsage(usage: Usage | undefined): usage is Usage {
  if (!usage) return false
  const { input, output, cacheRead, cacheWrite, reasoning } = usage
  return [input, output, cacheRead, cacheWrite, reasoning].every(isCount)
}

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
