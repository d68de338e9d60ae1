import { errorCode } from '../../util/error-code.ts'

/** Whether a process of this machine exists. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Any other error, as for another user's process, means that it exists.
    return errorCode(error) !== 'ESRCH'
  }
}
