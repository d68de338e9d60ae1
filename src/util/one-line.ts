/** Each run of white space becomes one space. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
