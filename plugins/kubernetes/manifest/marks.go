// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AnnotationGivenBack names the application whose failed deployment has given an object back to the one that had it
// before.
const AnnotationGivenBack = "pipedeck.dev/given-back-by"

// Marks are what a Stamp has written on an object.
type Marks struct {
	// Labels are annotations with the same values, too.
	Labels map[string]string `json:"labels"`
	// Annotations are the further ones.
	Annotations map[string]string `json:"annotations"`
}

// MarksOf returns the marks of an object.
func MarksOf(o metav1.Object) Marks {
	m := Marks{Labels: map[string]string{}, Annotations: map[string]string{}}
	annotations := o.GetAnnotations()
	for key, value := range o.GetLabels() {
		if other, both := annotations[key]; both && other == value {
			m.Labels[key] = value
		}
	}
	for _, key := range []string{AnnotationOriginalAPIVersion, AnnotationResourceKey, AnnotationDeployTarget} {
		if value, has := annotations[key]; has {
			m.Annotations[key] = value
		}
	}
	return m
}

// Application is the id of the application that the object belongs to.
func (m Marks) Application() string { return m.Labels[LabelApplication] }
