"""Moves the time of the emulator by the milliseconds in CLOCK_FILE, a little-endian double. Python loads this file from PYTHONPATH."""

import datetime
import mmap
import os
import struct
import time

with open(os.environ["CLOCK_FILE"], "r+b") as file:
    shared = mmap.mmap(file.fileno(), 8)
real_time = time.time
real_sleep = time.sleep
real_datetime = datetime.datetime


def now():
    return real_time() + struct.unpack("<d", shared[:8])[0] / 1000


class AnyDateTime(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, real_datetime)


class ShiftedDateTime(real_datetime, metaclass=AnyDateTime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(now(), tz)

    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(now(), datetime.timezone.utc).replace(tzinfo=None)


time.time = now
time.sleep = lambda seconds: real_sleep(min(seconds, 0.25))  # the scheduler looks every ten seconds
datetime.datetime = ShiftedDateTime
