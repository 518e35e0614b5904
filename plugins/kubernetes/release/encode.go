// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// maxSecret is how much a Secret may hold, in bytes.
	maxSecret = 1 << 20
	// maxDecoded bounds a record that is read, in bytes.
	maxDecoded = 32 << 20
)

var errTooLarge = errors.New("it is larger than the 1 MiB that Kubernetes allows for a Secret")

// encode is the form of a record in the data of its Secret: JSON, zipped, in base64 twice, because Kubernetes has all
// data so.
func encode(record any) (string, error) {
	data, err := json.Marshal(record)
	if err != nil {
		return "", err
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	_, err = w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	inner := base64.StdEncoding.EncodeToString(zipped.Bytes())
	if len(inner) > maxSecret {
		return "", errTooLarge
	}
	return base64.StdEncoding.EncodeToString([]byte(inner)), nil
}

// decode reads a record with all that it has, so that it can be written again.
func decode(stored string) (record map[string]any, err error) {
	inner, err := base64.StdEncoding.DecodeString(stored)
	if err != nil {
		return nil, err
	}
	zipped, err := base64.StdEncoding.DecodeString(string(inner))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxDecoded+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxDecoded {
		return nil, fmt.Errorf("it has more than %d MiB", maxDecoded>>20)
	}
	numbers := json.NewDecoder(bytes.NewReader(data))
	numbers.UseNumber()
	return record, numbers.Decode(&record)
}
