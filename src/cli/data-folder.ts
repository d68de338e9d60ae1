import { isAbsolute, join, resolve } from 'node:path'

interface DataFolderSources {
  readonly flag: string | undefined
  readonly env: { readonly [name: string]: string | undefined }
  readonly home: string
}

/** Where journals are kept: the flag, else the user's state folder. */
export function dataFolder({ flag, env, home }: DataFolderSources): string {
  if (flag !== undefined) return resolve(flag)
  const state = env.XDG_STATE_HOME
  // The XDG specification has relative paths ignored.
  return join(state !== undefined && isAbsolute(state) ? state : join(home, '.local', 'state'), 'troupe')
}
