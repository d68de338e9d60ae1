export const capitalize = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`
