// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// memoryUnits are those of Kubernetes.
var memoryUnits = []struct {
	suffix string
	bytes  float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40},
	{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"", 1},
}

// leastMemory is what the runtime of a Go program needs to start.
const leastMemory = 16 << 20

// MemoryBytes is Memory in bytes, 0 without a limit.
func (l PluginLimits) MemoryBytes() (uint64, error) {
	if l.Memory == "" {
		return 0, nil
	}
	for _, unit := range memoryUnits {
		number, ok := strings.CutSuffix(l.Memory, unit.suffix)
		if !ok {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		if bytes := value * unit.bytes; err == nil && bytes >= leastMemory && bytes < math.MaxInt64 {
			return uint64(bytes), nil
		}
		break
	}
	return 0, fmt.Errorf("%q is not allowed here: want at least 16Mi, such as 512Mi or 2Gi", shorten(l.Memory))
}

func checkLimits(d *decoder, at string, l PluginLimits) {
	if _, err := l.MemoryBytes(); err != nil {
		d.fieldf(at+".memory", "%s", err)
	}
	given := func(field string) bool { _, ok := d.places[field]; return ok }
	if given(at+".cpu") && !(l.CPU >= 0.01 && l.CPU <= 10_000) { // NaN is neither
		d.fieldf(at+".cpu", "%v is not allowed here: want a number of cores, 0.01 at least", l.CPU)
	}
	if given(at+".pids") && l.Pids < 16 {
		d.fieldf(at+".pids", "%d is not allowed here: want at least 16, because threads count; leave it out for "+
			"no limit", l.Pids)
	}
}
