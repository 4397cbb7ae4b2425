import { InvalidArgumentError } from 'commander';

export const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

export const positiveNumber = (text: string): number => {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError('It must be at least 1.');
  return number;
};
