"""Results that several threads ask for, and that are worked out once."""

import concurrent.futures
import threading


class Once:
    """Results by key. Who asks first works it out; the others wait. What it raises, it raises for all."""

    def __init__(self):
        self.lock, self.results = threading.Lock(), {}

    def get(self, key, work):
        with self.lock:
            first = key not in self.results
            result = self.results.setdefault(key, concurrent.futures.Future())
        if first:
            try:
                result.set_result(work())
            except BaseException as error:
                result.set_exception(error)
        return result.result()
