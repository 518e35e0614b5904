// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

// Usages returns ErrUnmeasured: the system reports the processor time of other processes only to programs that use its
// C libraries, which this one does not.
func Usages(map[int]bool) (map[int]Usage, error) { return nil, ErrUnmeasured }
