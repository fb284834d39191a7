package golang

import "testing"

func TestAnInsertIntoMongoDBIsSentOnce(t *testing.T) {
	for _, url := range []string{
		"mongodb://127.0.0.1:27017/devices",
		"mongodb://127.0.0.1:27017/devices?retryWrites=true",
	} {
		o := mongoOptions(url, 3)
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		if o.RetryWrites == nil || *o.RetryWrites {
			t.Errorf("with %s the driver may send a write twice", url)
		}
		if o.MaxPoolSize == nil || *o.MaxPoolSize != 3 {
			t.Errorf("with %s the connections are not as many as asked", url)
		}
	}
}
