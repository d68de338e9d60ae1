import type { Availability } from './sandbox-types.ts'

export const switchOff = 'Run commands without a sandbox, with all of your rights: sandbox: {mode: off}.'

export const howToInstall = [
  'Install it: apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap or pacman -S bubblewrap.',
  'In a container it needs user namespaces: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or --privileged.',
  'On Ubuntu 24.04 and later, without root: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap.',
  'Or run commands without a sandbox, with all of your rights: sandbox: {mode: off}.',
].join(' ')

export function sandboxUnavailable(message: string, remedy: string): Extract<Availability, { readonly kind: 'unavailable' }> {
  return { kind: 'unavailable', failure: { class: 'sandbox_unavailable', message, remedy } }
}
