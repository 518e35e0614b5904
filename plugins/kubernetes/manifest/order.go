// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// OrderOf reads the annotation pipecd.dev/order; 0 when it is not given.
func OrderOf(m Manifest) (int, error) {
	text, ok := m.GetAnnotations()[AnnotationOrder]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		at := "metadata.annotations." + AnnotationOrder
		return 0, fmt.Errorf("%s: annotation %s: %q is not a whole number", m.Origin.At(at), AnnotationOrder, text)
	}
	return n, nil
}

func sortByOrder(manifests []Manifest) ([]Manifest, error) {
	orders := map[Key]int{}
	for _, m := range manifests {
		order, err := OrderOf(m)
		if err != nil {
			return nil, err
		}
		orders[m.Key()] = order
	}
	slices.SortStableFunc(manifests, func(a, b Manifest) int {
		return cmp.Compare(orders[a.Key()], orders[b.Key()])
	})
	return manifests, nil
}
