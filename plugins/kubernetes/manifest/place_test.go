// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFieldOfAListItemIsFoundByTheKeysThatTheAPINames(t *testing.T) {
	t.Parallel()
	parsed, err := Parse([]byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: side
          image: a
        - name: web
          imag: b
          ports:
            - containerPort: 80
            - {containerPort: 80, protocol: UDP}
              # between
`), "web.yaml")
	require.NoError(t, err)
	m := parsed[0]
	containers := "spec.template.spec.containers"
	for path, place := range map[string]string{
		containers + `[name="web"].imag`:   "web.yaml:11",
		containers + `[name="side"].image`: "web.yaml:9",
		containers + `[1].imag`:            "web.yaml:11",
		containers + `[name="web"].ports[containerPort=80,protocol="UDP"].protocol`: "web.yaml:14",
		containers + `[name="web"].ports[containerPort=80,protocol="TCP"]`:          "web.yaml:13",
		containers + `[name="other"].image`:                                         "web.yaml:7",
		containers + `[7].image`:                                                    "web.yaml:7",
		`metadata.annotations["a.b/c[0]"]`:                                          "web.yaml:3",
		containers + `[name="we`:                                                    "web.yaml:7",
		"":                                                                          "web.yaml:1",
	} {
		require.Equal(t, place, m.At(path), path)
	}
}

func FuzzAPlaceOfAnyPath(f *testing.F) {
	f.Add(`spec.list[name="a"].x`)
	f.Add(`[[["`)
	text := "apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {list: [{name: a, x: 1}]}\n"
	parsed, err := Parse([]byte(text), "x.yaml")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, path string) {
		require.Contains(t, parsed[0].At(path), "x.yaml:")
	})
}
