export { joinErrors as together } from './join-errors.ts'
