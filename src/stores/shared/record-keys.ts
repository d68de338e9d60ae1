import { TroupeError } from '../../contracts/index.ts'

/** Text that every database keeps as it is, and sorts by code points: well-formed, without NUL, not empty. */
export const isRecordKey = (text: string): boolean => text !== '' && text.isWellFormed() && !text.includes('\0')

/** A record under another key is never found, so reads need no check of their own. */
export function checkRecordKey(namespace: string, key: string): void {
  if (isRecordKey(namespace) && isRecordKey(key)) return
  throw new TroupeError('internal', `the key ${JSON.stringify(key)} of a record in ${JSON.stringify(namespace)} is not valid`, {
    remedy: 'use keys that are not empty, without NUL and lone surrogates',
  })
}
