/** Built-in model names and prefixes. No alias or provider can use them. */
export const reservedModelNames = ['auto', 'rehearsal', 'script'] as const
