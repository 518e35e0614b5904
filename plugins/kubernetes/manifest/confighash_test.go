// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// A hash that differed would roll every pod out again when an application moves from PipeCD's plugin to this one.
func TestConfigHashesAreThoseOfPipeCD(t *testing.T) {
	t.Parallel()
	const configMap, secret = "apiVersion: v1\nkind: ConfigMap\n", "apiVersion: v1\nkind: Secret\ntype: my-type\n"
	for name, tt := range map[string]struct {
		configs []string
		want    string
	}{
		"a ConfigMap without data":        {[]string{configMap + "data: {}\nbinaryData: {}"}, "42745tchd9"},
		"a ConfigMap with an empty value": {[]string{configMap + "data: {one: ''}"}, "9g67k2htb6"},
		"the order of a ConfigMap's keys is none": {[]string{configMap + "data: {two: '2', one: '', three: '3'}"},
			"f5h7t85m9b"},
		"a Secret without data":        {[]string{secret + "data: {}"}, "t75bgf6ctb"},
		"a Secret with an empty value": {[]string{secret + "data: {one: ''}"}, "74bd68bm66"},
		"the order of a Secret's keys is none": {[]string{secret + "data: {two: Mg==, one: '', three: Mw==}"},
			"dgcb6h9tmk"},
		"several": {[]string{configMap + "data: {two: '2', three: '3'}",
			secret + "data: {one: '', three: Mw==}"}, "57hhd7795k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var configs []Manifest
			for _, text := range tt.configs {
				o := map[string]any{}
				require.NoError(t, yaml.Unmarshal([]byte(text), &o))
				configs = append(configs, Manifest{Unstructured: &unstructured.Unstructured{Object: o}})
			}
			got, err := hashConfigs(configs)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}
