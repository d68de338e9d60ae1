/**
 * The beginning of a command line whose process group is killed when descriptor 3 closes: start it with a pipe there that only
 * this process holds. The number of the shell is that of the program that takes its place, and of the group. Processes that
 * left the group are not found.
 */
export const watchedCommand = [
  '/bin/sh',
  '-c',
  '(trap "" TERM; read -r _ <&3; kill -KILL -$$) <&3 >/dev/null 2>&1 & exec "$@" 3<&-',
  'sh',
] as const
