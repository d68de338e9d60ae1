import { lstatSync, opendirSync } from 'node:fs'

/** Up to one more than `most`; none where a link leads to the folder. However many there are, no more are read. */
export function namesIn(folder: string, most: number): readonly string[] {
  try {
    if (!lstatSync(folder).isDirectory()) return []
    const opened = opendirSync(folder, { bufferSize: 64 })
    try {
      const names: string[] = []
      for (let entry = opened.readSync(); entry && names.length <= most; entry = opened.readSync()) names.push(entry.name)
      return names
    } finally {
      opened.closeSync()
    }
  } catch {
    return []
  }
}
