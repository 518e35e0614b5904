// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// fieldError is an error about a field of a part of a manifest.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

func (e *fieldError) Unwrap() error { return e.err }

var errNoMapping = errors.New("an entry is not a mapping")

// located adds to an error where in Git the part of the manifest is that it is about, or its field.
func located(m manifest.Manifest, path string, err error) error {
	if of, is := errors.AsType[*fieldError](err); is {
		path, err = path+"."+of.field, of.err
	}
	return fmt.Errorf("%s: %s of %s: %w", m.Origin.At(path), path, m.Key().Human(), err)
}
