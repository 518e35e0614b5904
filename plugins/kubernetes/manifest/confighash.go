// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// configHashLength is how much of the hash is used (PipeCD v1, as Kubernetes' own name suffixes).
const configHashLength = 10

// AddConfigHashes annotates the pod template of every Deployment, StatefulSet and DaemonSet that uses ConfigMaps or
// Secrets of the same application with a hash of their content, so that a change of one rolls the pods out again.
func AddConfigHashes(manifests []Manifest) error {
	configs := map[Key]Manifest{}
	for _, m := range manifests {
		if m.Is(KindConfigMap) || m.Is(KindSecret) {
			configs[m.Key()] = m
		}
	}
	for _, m := range manifests {
		if !m.Is(KindDeployment) && !m.Is(KindStatefulSet) && !m.Is(KindDaemonSet) {
			continue
		}
		used := usedConfigs(m, configs)
		if len(used) == 0 {
			continue
		}
		hash, err := hashConfigs(used)
		if err != nil {
			return fmt.Errorf("%s: hash the configuration of %s: %w", m.Origin, m.Key().Human(), err)
		}
		if err := SetPodTemplateAnnotation(m, AnnotationConfigHash, hash); err != nil {
			return fmt.Errorf("%s: %s: %w", m.Origin, m.Key().Human(), err)
		}
	}
	return nil
}

// usedConfigs returns the managed ConfigMaps, then the Secrets that a workload refers to, each once, by name.
func usedConfigs(workload Manifest, configs map[Key]Manifest) []Manifest {
	var used []Manifest
	seen := map[Key]bool{}
	for _, ref := range ConfigReferences(PodSpec(workload)) {
		key := Key{Kind: ref.Kind, Namespace: workload.GetNamespace(), Name: ref.Name()}
		if m, managed := configs[key]; managed && !seen[key] {
			seen[key] = true
			used = append(used, m)
		}
	}
	slices.SortFunc(used, func(a, b Manifest) int { return compareKeys(a.Key(), b.Key()) })
	return used
}

// hashConfigs is SHA-256 over the configs' JSON, the hexadecimal digits exchanged so that they cannot form words.
func hashConfigs(configs []Manifest) (string, error) {
	sum := sha256.New()
	for _, m := range configs {
		data, err := json.Marshal(configContent(m))
		if err != nil {
			return "", err
		}
		sum.Write(data)
	}
	digits := hex.EncodeToString(sum.Sum(nil))[:configHashLength]
	return strings.NewReplacer("0", "g", "1", "h", "3", "k", "a", "m", "e", "t").Replace(digits), nil
}

func configContent(m Manifest) map[string]any {
	content := map[string]any{"kind": m.GetKind(), "name": m.GetName(), "data": m.Object["data"]}
	if m.Is(KindSecret) {
		kind, _ := m.Object["type"].(string)
		content["type"] = kind
		content["data"] = secretData(m)
	}
	if immutable, ok := m.Object["immutable"].(bool); ok {
		content["immutable"] = immutable
	}
	if binary, ok := m.Object["binaryData"].(map[string]any); ok && len(binary) > 0 {
		content["binaryData"] = binary
	}
	return content
}

// secretData is the data as the API stores it: stringData goes over data.
func secretData(m Manifest) any {
	text, ok := m.Object["stringData"].(map[string]any)
	if !ok || len(text) == 0 {
		return m.Object["data"]
	}
	data := map[string]any{}
	if stored, ok := m.Object["data"].(map[string]any); ok {
		for key, value := range stored {
			data[key] = value
		}
	}
	for key, value := range text {
		if s, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
	return data
}
