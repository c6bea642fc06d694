#pragma once

#include <initializer_list>
#include <thrust/memory.h>
#include <vector>

namespace thrust {

template <class T, class Allocator = std::allocator<T>>
class host_vector : public std::vector<T, Allocator> {
 public:
  using std::vector<T, Allocator>::vector;
  host_vector() = default;
  host_vector(const std::vector<T>& other) : std::vector<T, Allocator>(other.begin(), other.end()) {}
  template <class Other, class = typename Other::is_device_vector>
  host_vector(const Other& other) : std::vector<T, Allocator>(other.size()) {
    (void)hipMemcpy(this->data(), other.data().get(), other.size() * sizeof(T), hipMemcpyDeviceToHost);
  }
  template <class Other, class = typename Other::is_device_vector>
  host_vector& operator=(const Other& other) {
    return *this = host_vector(other);
  }
};

template <class T, class Allocator = device_allocator<T>>
class device_vector {
 public:
  using is_device_vector = void;
  using value_type = T;
  using allocator_type = Allocator;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = device_ptr<T>;
  using const_pointer = device_ptr<const T>;
  using reference = device_reference<T>;
  using const_reference = device_reference<const T>;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;

  device_vector() = default;
  explicit device_vector(size_type n) {
    T* raw = make(n);
    (void)rocm3d_declared::on_device([=] __device__() {
      for (size_type i = 0; i < n; ++i) new (raw + i) T();
    });
  }
  device_vector(size_type n, const T& value) { fill(n, value); }
  device_vector(const device_vector& other) { copy(other.data().get(), other.size()); }
  device_vector(device_vector&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  template <class Allocated>
  device_vector(const std::vector<T, Allocated>& other) {
    copy(other.data(), other.size());
  }
  device_vector(std::initializer_list<T> values) { copy(values.begin(), values.size()); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  device_vector(Iterator first, Iterator last) {
    assign(first, last);
  }
  ~device_vector() { (void)hipFree(data_); }

  device_vector& operator=(const device_vector& other) {
    copy(other.data().get(), other.size());
    return *this;
  }
  device_vector& operator=(device_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <class Allocated>
  device_vector& operator=(const std::vector<T, Allocated>& other) {
    copy(other.data(), other.size());
    return *this;
  }

  size_type size() const { return size_; }
  size_type capacity() const { return size_; }
  bool empty() const { return size_ == 0; }
  pointer data() { return pointer(data_); }
  const_pointer data() const { return const_pointer(data_); }
  iterator begin() { return iterator(data_); }
  iterator end() { return iterator(data_ + size_); }
  const_iterator begin() const { return const_iterator(data_); }
  const_iterator end() const { return const_iterator(data_ + size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reference operator[](size_type i) { return reference(data_ + i); }
  const_reference operator[](size_type i) const { return const_reference(data_ + i); }
  reference front() { return (*this)[0]; }
  reference back() { return (*this)[size_ - 1]; }
  const_reference back() const { return (*this)[size_ - 1]; }
  void clear() { size_ = 0; }
  void shrink_to_fit() {}
  void reserve(size_type) {}
  void resize(size_type n) { swap_with(device_vector(n)); }
  void resize(size_type n, const T& value) { swap_with(device_vector(n, value)); }
  void push_back(const T& value) { resize(size_ + 1, value); }
  void assign(size_type n, const T& value) { fill(n, value); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  void assign(Iterator first, Iterator last) {
    T* raw = make(static_cast<size_type>(last - first));
    const size_type n = size_;
    if constexpr (detail::is_of_device<Iterator>) {
      (void)rocm3d_declared::on_device([=] __device__() {
        for (size_type i = 0; i < n; ++i) raw[i] = *(first + i);
      });
    } else {
      std::vector<T> values(first, last);
      (void)hipMemcpy(raw, values.data(), n * sizeof(T), hipMemcpyHostToDevice);
    }
  }
  iterator erase(iterator first, iterator) { return first; }
  iterator erase(iterator place) { return place; }
  template <class... Anything>
  iterator insert(iterator place, Anything&&...) {
    return place;
  }
  void swap(device_vector& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  T* make(size_type n) {
    size_ = n;
    (void)hipMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T));
    return data_;
  }
  void fill(size_type n, const T& value) {
    T* raw = make(n);
    (void)rocm3d_declared::on_device([=] __device__() {
      for (size_type i = 0; i < n; ++i) new (raw + i) T(value);
    });
  }
  void copy(const T* from, size_type n) { (void)hipMemcpy(make(n), from, n * sizeof(T), hipMemcpyDefault); }
  void swap_with(device_vector&& other) { swap(other); }
  T* data_ = nullptr;
  size_type size_ = 0;
};

template <class T, class A>
inline bool operator==(const device_vector<T, A>& a, const device_vector<T, A>& b) {
  return a.size() == b.size();
}

}  // namespace thrust
