"""The simulated world: events, walks of the truth, evidence and books, all drawn from one seed.

Every draw comes from a generator named by what it is for and the day it is for, so a day never
depends on a later one, nor any answer on the questions asked before it.
"""
