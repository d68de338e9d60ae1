/** Words that name a model, or the beginning of one, by themselves. No alias and no provider may take them over. */
export const reservedModelNames = ['auto', 'rehearsal', 'script'] as const
