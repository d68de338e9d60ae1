import type { Cost, Model, Usage } from '../../contracts/index.ts'

/** What a model says that something costs. Prices are other people's code, too: what is none is not known. */
export function computeCost(model: Pick<Model, 'costOf'> | undefined, usage: Usage): Cost {
  try {
    const cost = model?.costOf?.(usage)
    return isPrice(cost) ? cost : 'unknown'
  } catch {
    return 'unknown'
  }
}

/** A sum that can be added up. */
export const isPrice = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
