// Why a request is not served, in the words that its client gets.

export class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}
