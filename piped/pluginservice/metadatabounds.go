// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Bounds of metadata, in bytes of keys and values as the control plane gets them: a value that holds secrets counts
// masked and sealed. The whole metadata of a deployment travels with each call to a plugin and each listing of
// deployments; PipeCD's plugins and pipectl take messages of at most 4 MiB.
const (
	maxMetadataValue      = 256 << 10
	maxMetadataGroup      = 512 << 10
	maxMetadataDeployment = 2 << 20
)

// metadataSizes are the bytes of metadata that the control plane has of one deployment. Values are grouped by the stage
// or plugin that they belong to. deployment.saving guards it.
type metadataSizes struct {
	groups map[string]map[string]int
	totals map[string]int
	all    int
}

func newMetadataSizes() *metadataSizes {
	return &metadataSizes{groups: map[string]map[string]int{}, totals: map[string]int{}}
}

// note takes over values that the control plane has.
func (m *metadataSizes) note(group string, values map[string]string) {
	sizes := m.groups[group]
	if sizes == nil {
		sizes = map[string]int{}
		m.groups[group] = sizes
	}
	for key, value := range values {
		size := len(key) + len(value)
		m.totals[group] += size - sizes[key]
		m.all += size - sizes[key]
		sizes[key] = size
	}
}

// check returns an error that names the bound which the values would exceed. owner is whose they are, for users.
func (m *metadataSizes) check(group, owner string, values map[string]string) error {
	grown := 0
	for key, value := range values {
		if len(value) > maxMetadataValue {
			return status.Errorf(codes.ResourceExhausted, "the metadata value %q of %s has %d bytes; at most %d are "+
				"kept: "+
				"put larger data into a shared object of the application", key, owner, len(value), maxMetadataValue)
		}
		grown += len(key) + len(value) - m.groups[group][key]
	}
	switch {
	case grown <= 0: // metadata of an older piped may exceed the bounds, and may get smaller
	case m.totals[group]+grown > maxMetadataGroup:
		return status.Errorf(codes.ResourceExhausted, "the metadata of %s would take %d bytes; at most %d are kept: "+
			"put larger data into a shared object of the application", owner, m.totals[group]+grown, maxMetadataGroup)
	case m.all+grown > maxMetadataDeployment:
		return status.Errorf(codes.ResourceExhausted, "the metadata of all stages and plugins of the deployment "+
			"would take %d bytes "+
			"with that of %s; at most %d are kept: put larger data into shared objects of the application", m.all+grown,
			owner, maxMetadataDeployment)
	}
	return nil
}
