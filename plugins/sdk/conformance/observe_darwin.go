// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "time"

// observable is whether processes can be inspected here.
const observable = false

func markedPids(string) []int { return nil }

func marked(string) []string { return nil }

func commandLines(string, int) []string { return nil }

func listeners(string) []string { return nil }

func descriptors(int) (int, bool) { return 0, false }

func threads(int) (int, bool) { return 0, false }

func processorUse(int) (schedule, bool) { return schedule{}, false }

func processorWait(int) time.Duration { return 0 }

func residentMemory(string) int { return 0 }

func zombies(string) []string { return nil }

func workingDirectories(string) []string { return nil }
