// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// held is a field that another manager has.
type held struct{ field, manager string }

// The API's words for a conflict: `conflict with "kubectl-edit" using v1`, and a time where it knows one.
var conflicting = regexp.MustCompile(`conflict with "([^"]*)"`)

func heldFields(err error) []held {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []held
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		h := held{field: normalPath(cause.Field), manager: "another manager"}
		if found := conflicting.FindStringSubmatch(cause.Message); found != nil {
			h.manager = found[1]
		}
		fields = append(fields, h)
	}
	return fields
}

// list is "spec.replicas (of kubectl-edit), …", within a bound.
func list(fields []held) string {
	var texts []string
	for i, h := range fields {
		if i == maxFields {
			texts = append(texts, fmt.Sprintf("%d more fields", len(fields)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("%s (of %s)", h.field, h.manager))
	}
	return strings.Join(texts, ", ")
}

// maxFields bounds the fields that one line lists.
const maxFields = 5

// describeConflict names each field and who manages it.
func describeConflict(err error, refused *RefusedError, m manifest.Manifest) error {
	fields := heldFields(err)
	refused.Reason = "other managers have fields of it: " + list(fields)
	if len(fields) > 0 {
		refused.Where = m.Origin.At(fields[0].field)
	}
	refused.Remedy = fmt.Sprintf("take these fields out of Git to leave them to their manager, or remove the "+
		"annotation %s from the manifest, and Git wins",
		annotationServerSide)
	return refused
}
