import type { ModelAbility } from '../contracts/index.ts'

/** Nobody knows of a strange server whether it takes a schema; many refuse a request that has one. */
export const abilitiesOfStrangers: readonly ModelAbility[] = ['tools', 'images', 'files', 'reasoning']

export const allAbilities: readonly ModelAbility[] = [...abilitiesOfStrangers, 'json_schema']
